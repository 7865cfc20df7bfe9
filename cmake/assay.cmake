# What every room's CMakeLists.txt uses: the language level, the warnings, the packages and two functions,
# assay_library() and assay_test().

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE)
  # What was compiled in one checkout serves the next, in whatever folder it lies.
  set(ASSAY_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${ASSAY_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ASSAY_LAUNCHER})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ASSAY_LAUNCHER})
endif()
find_program(ASSAY_MOLD mold)
if(ASSAY_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(ASSAY_SANITIZE "" CACHE STRING "Sanitizers to build with, for example 'address,undefined' or 'thread'")
if(ASSAY_SANITIZE)
  add_compile_options(-fsanitize=${ASSAY_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ASSAY_SANITIZE})
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(GTest REQUIRED)
find_package(absl REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(benchmark REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
include(GoogleTest)

# The Python of the project's own virtual environment: LibTorch comes from its `torch` wheel,
# the google.api protos from `googleapis-common-protos`.
set(ASSAY_VENV ${CMAKE_SOURCE_DIR}/.venv CACHE PATH "Virtual environment made by scripts/setup")
file(GLOB ASSAY_SITE_PACKAGES ${ASSAY_VENV}/lib/python3.*/site-packages)
if(NOT ASSAY_SITE_PACKAGES)
  message(FATAL_ERROR "no virtual environment at ${ASSAY_VENV}: run scripts/setup first, or pass -DASSAY_VENV=DIR")
endif()
list(GET ASSAY_SITE_PACKAGES 0 ASSAY_SITE_PACKAGES)

add_library(assay_options INTERFACE)
target_include_directories(assay_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(assay_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)

# assay_library(NAME SOURCES a.cc … [DEPS x y])  — a static library of one room.
function(assay_library name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC assay_options ${A_DEPS})
endfunction()

# assay_test(NAME SOURCES a_test.cc … [DEPS x y])  — a GoogleTest program, each of its tests a ctest.
function(assay_test name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE assay_options ${A_DEPS} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()
