// Speed of what `assay import` does with a sample (parse, check, canonical print, hash), on one core, beside CPython's
// ast.parse on the same text in the same run:
//
//     parse_bench [--benchmark_…] [FOLDER]
//
// FOLDER holds samples at any depth; without one, samples are made up.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "graph/canonical.h"
#include "graph/sample_folder.h"
#include "graph/text.h"
#include "tests/bench/made_samples.h"

namespace assay::bench {
namespace {

namespace fs = std::filesystem;

struct Input {
  std::vector<graph::Sample> samples;
  int64_t bytes = 0;
  fs::path list;                // a file that names the files of the samples
  double bytes_per_second = 0;  // of the parser
};
Input input;

int64_t TextBytes(const graph::Sample& sample) { return sample.model.size() + sample.weight_meta.size(); }

// Puts the samples where another process can read them.
void Prepare(const char* folder) {
  const fs::path own = fs::temp_directory_path() / graph::Cat("assay-parse-bench-", ::getpid());
  fs::create_directories(own);
  std::vector<fs::path> folders;
  if (folder == nullptr) {
    for (const graph::Sample& sample : MakeSamples(21)) {
      folders.push_back(own / std::to_string(folders.size()));
      if (!graph::WriteSampleFolder(folders.back(), sample).ok()) std::exit(1);
    }
  } else if (const auto found = graph::FindSampleFolders(folder); found.ok()) {
    folders = *found;
  } else {
    std::cerr << found.status().message() << "\n";
    std::exit(1);
  }
  input.list = own / "list";
  std::ofstream list(input.list);
  for (const fs::path& path : folders) {
    absl::StatusOr<graph::Sample> sample = graph::ReadSampleFolder(path);
    if (!sample.ok()) continue;  // not complete
    input.bytes += TextBytes(*sample);
    input.samples.push_back(*std::move(sample));
    list << (path / "model.py").string() << "\n" << (path / "weight_meta.py").string() << "\n";
  }
}

// An iteration takes every sample once, here and below.
void AssayAllSamples(benchmark::State& state) {
  for (auto _ : state) {
    const std::clock_t start = std::clock();  // of the processor, as for CPython below
    for (const graph::Sample& sample : input.samples) {
      const absl::StatusOr<graph::Graph> graph = graph::Parse(sample);
      if (!graph.ok()) {
        state.SkipWithError(std::string(graph.status().message()).c_str());
        return;
      }
      benchmark::DoNotOptimize(graph::HashOfCanonical(graph::Canonical(*graph)));
    }
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    input.bytes_per_second = std::max(input.bytes_per_second, static_cast<double>(input.bytes) / seconds);
  }
  state.SetBytesProcessed(state.iterations() * input.bytes);
}

void PythonAstParse(benchmark::State& state) {
  constexpr const char* kScript =
      "import ast,sys,time\n"
      "texts=[open(name.strip()).read() for name in open(sys.argv[1])]\n"
      "start=time.process_time()\n"
      "for text in texts: ast.parse(text)\n"
      "print(time.process_time()-start)\n";
  const std::string command = graph::Cat("/usr/bin/python3 -c '", kScript, "' '", input.list.string(), "'");
  double best = 0;
  for (auto _ : state) {
    std::FILE* pipe = ::popen(command.c_str(), "r");
    double seconds = 0;
    const bool told = pipe != nullptr && std::fscanf(pipe, "%lf", &seconds) == 1;
    if (pipe == nullptr || ::pclose(pipe) != 0 || !told) {
      state.SkipWithError("python3 did not tell a time");
      return;
    }
    state.SetIterationTime(seconds);
    best = std::max(best, static_cast<double>(input.bytes) / seconds);
  }
  state.SetBytesProcessed(state.iterations() * input.bytes);
  state.counters["assay_is_times_faster"] = input.bytes_per_second / best;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay::bench;  // NOLINT
  benchmark::Initialize(&argc, argv);
  Prepare(argc > 1 ? argv[1] : nullptr);
  std::cout << input.samples.size() << " samples, " << input.bytes << " bytes of model.py and weight_meta.py\n";
  benchmark::RegisterBenchmark("assay: parse, check, print, hash", AssayAllSamples)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("CPython: ast.parse", PythonAstParse)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(2);
  benchmark::RunSpecifiedBenchmarks();
  fs::remove_all(input.list.parent_path());
}
