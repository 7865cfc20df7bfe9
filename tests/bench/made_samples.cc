#include "tests/bench/made_samples.h"

#include "graph/text.h"

namespace assay::bench {
namespace {

using graph::Cat;

// Collects a sample line by line.
class Maker {
 public:
  Maker(int layers, int width) : layers_(layers), width_(width) {}

  graph::Sample Make(bool convolution) {
    Input("L_input_", convolution ? "[1, 64, 28, 28]" : Cat("[1, 128, ", width_, "]"));
    hidden_ = "l_input_";
    for (int layer = 0; layer < layers_; ++layer) {
      if (convolution) {
        Residual(layer);
      } else {
        Encoder(layer);
      }
    }
    sample_.model =
        Cat("import torch\nfrom torch import device\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self",
            parameters_, "\n    ):\n", aliases_, body_, "        return (", hidden_, ",)\n");
    sample_.info =
        R"({"framework": "torch", "num_devices_required": 1, "num_nodes_required": 1, "model_name": "made"})";
    return std::move(sample_);
  }

 private:
  // The local name of a new parameter.
  std::string Weight(std::string_view path, std::string_view shape) {
    const std::string name = Cat("self_modules_", path, "_parameters_weight_");
    Declare(Cat("L_", name), "torch.nn.parameter.Parameter", shape);
    return Cat("l_", name);
  }
  void Input(std::string_view name, std::string_view shape) { Declare(name, "torch.Tensor", shape); }

  void Declare(std::string_view name, std::string_view annotation, std::string_view shape) {
    parameters_ += Cat(",\n        ", name, ": ", annotation);
    std::string local(name);
    local[0] = 'l';
    aliases_ += Cat("        ", local, " = ", name, "\n");
    ++number_;
    sample_.weight_meta +=
        Cat("class Program_weight_tensor_meta_", name, ":\n    name = \"", name, "\"\n    shape = ", shape,
            "\n    dtype = \"torch.float32\"\n    device = \"cuda:0\"\n    mean = -0.001", number_, "\n    std = 0.02",
            number_, "\n    data = None\n\n\n");
  }

  // `name_7 = CALL` and, on lines of their own, the names that are not needed any more.
  std::string Call(std::string_view name, std::string_view call, std::initializer_list<std::string_view> freed) {
    const std::string result = Cat(name, "_", ++number_);
    body_ += Cat("        ", result, " = ", call, "\n");
    if (freed.size() > 0) {
      body_ += "        ";
      for (const std::string_view value : freed) body_ += Cat(value, " = ");
      body_ += "None\n";
    }
    return result;
  }

  std::string Linear(std::string_view path, const std::string& x, int inputs, int outputs, bool free) {
    const std::string weight = Weight(path, Cat("[", outputs, ", ", inputs, "]"));
    const std::string bias = Weight(Cat(path, "_bias"), Cat("[", outputs, "]"));
    const std::string call = Cat("torch._C._nn.linear(", x, ", ", weight, ", ", bias, ")");
    return free ? Call("linear", call, {x, weight, bias}) : Call("linear", call, {weight, bias});
  }

  void Encoder(int layer) {
    const std::string path = Cat("encoder_modules_layer_modules_", layer, "_modules_attention");
    std::string heads[3];
    for (int i = 0; i < 3; ++i) {
      const std::string x = Linear(Cat(path, "_modules_self_modules_", std::string_view("qkv").substr(i, 1)), hidden_,
                                   width_, width_, false);
      const std::string view = Call("view", Cat(x, ".view(1, -1, ", width_ / 64, ", 64)"), {x});
      heads[i] = Call("transpose", Cat(view, ".transpose(1, 2)"), {view});
    }
    const std::string attention = Call("attn_output",
                                       Cat("torch._C._nn.scaled_dot_product_attention(", heads[0], ", ", heads[1], ", ",
                                           heads[2], ", attn_mask=None, dropout_p=0.0, scale=0.125, is_causal=False)"),
                                       {heads[0], heads[1], heads[2]});
    const std::string back = Call("transpose", Cat(attention, ".transpose(1, 2)"), {attention});
    const std::string flat = Call("reshape", Cat(back, ".reshape(1, 128, -1)"), {back});
    Normalise(path, Linear(Cat(path, "_modules_output_modules_dense"), flat, width_, width_, true));
    const std::string wide =
        Linear(Cat(path, "_modules_intermediate_modules_dense"), hidden_, width_, 4 * width_, false);
    const std::string activated = Call("gelu", Cat("torch._C._nn.gelu(", wide, ")"), {wide});
    const std::string narrow = Linear(Cat(path, "_modules_ffn_modules_dense"), activated, 4 * width_, width_, true);
    Normalise(Cat(path, "_final"),
              Call("dropout", Cat("torch.nn.functional.dropout(", narrow, ", 0.1, False, False)"), {narrow}));
  }

  void Normalise(std::string_view path, const std::string& x) {
    const std::string sum = Call("add", Cat(x, " + ", hidden_), {x, hidden_});
    const std::string weight = Weight(Cat(path, "_modules_LayerNorm"), Cat("[", width_, "]"));
    hidden_ =
        Call("layer_norm", Cat("torch.nn.functional.layer_norm(", sum, ", (", width_, ",), ", weight, ", None, 1e-12)"),
             {sum, weight});
  }

  void Residual(int layer) {
    std::string x = hidden_;
    for (int i = 1; i <= 2; ++i) {
      const std::string path = Cat("layer", layer, "_modules_block_modules_conv", i);
      const std::string weight = Weight(path, "[64, 64, 3, 3]");
      const std::string convolved =
          Call("conv2d", Cat("torch.conv2d(", x, ", ", weight, ", None, (1, 1), (1, 1), (1, 1), 1)"), {weight});
      std::string statistics[4];
      for (int k = 0; k < 4; ++k) statistics[k] = Weight(Cat(path, "_modules_bn_", k), "[64]");
      const std::string normal =
          Call("batch_norm",
               Cat("torch.nn.functional.batch_norm(", convolved, ", ", statistics[0], ", ", statistics[1], ", ",
                   statistics[2], ", ", statistics[3], ", False, 0.1, 1e-05)"),
               {convolved, statistics[0], statistics[1], statistics[2], statistics[3]});
      x = i == 1 ? Call("relu", Cat("torch.nn.functional.relu(", normal, ", inplace=True)"), {normal}) : normal;
    }
    const std::string kept = x;
    body_ += Cat("        ", kept, " += ", hidden_, "\n");
    hidden_ = Call("relu", Cat("torch.nn.functional.relu(", kept, ", inplace=True)"), {kept});
  }

  const int layers_, width_;
  int number_ = 0;
  graph::Sample sample_;
  std::string parameters_, aliases_, body_, hidden_;
};

}  // namespace

std::vector<graph::Sample> MakeSamples(int count) {
  std::vector<graph::Sample> samples;
  for (int i = 0; i < count; ++i) {
    const bool convolution = i % 3 == 2;
    samples.push_back(Maker((convolution ? 20 : 12) + 5 * (i % 7), 128 * (2 + i % 5)).Make(convolution));
  }
  return samples;
}

}  // namespace assay::bench
