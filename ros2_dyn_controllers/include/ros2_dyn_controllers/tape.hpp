// SPDX-License-Identifier: Apache-2.0
// A tape: the dynamics of one robot as data (docs/tape.md). It is proven while it is loaded, and then run.
//
// Needs C++17 and nothing else. Loading allocates; evaluate() allocates nothing, throws nothing, has no branch that
// depends on a value, and reads and writes the tape's own cells alone, whatever the file was.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ros2_dyn
{

/// An input or an output: its name, and where its numbers are.
struct Numbers
{
  std::string name;
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// Position limits, and the largest velocity and effort of a joint, in SI units; infinite where there is none.
struct JointLimits
{
  double lower, upper, velocity, effort;
};

/// The CRC-32 of bytes, as of zlib.
inline std::uint32_t checksum(const std::uint8_t * data, std::size_t size)
{
  std::uint32_t crc = ~0u;
  for (std::size_t i = 0; i < size; i++) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; bit++) {crc = (crc >> 1) ^ (crc & 1u ? 0xEDB88320u : 0u);}
  }
  return ~crc;
}

class Tape
{
public:
  /// Return the tape of a file; none, and why, where the file is no tape, is damaged, or fails its self-test.
  static std::optional<Tape> load(const std::uint8_t * data, std::size_t size, std::string & why);

  std::string robot;
  /// Link of the pose, the Jacobian, the payload and the wrench.
  std::string link;
  std::vector<std::string> joints;
  /// One for each degree of freedom.
  std::vector<JointLimits> limits;
  /// `description_hash` of what it was made from; 0: it goes with any description.
  std::uint64_t description = 0;

  /// The numbers of an input, to be set; they keep what they are set to. Null where the tape has none of this size.
  double * input(std::string_view name, std::size_t size)
  {
    const Numbers * place = find(inputs_, name);
    return place && place->size == size ? cells_.data() + place->begin : nullptr;
  }

  /// The numbers of an output, row by row, as of the last evaluate(). Null where it has no such output.
  const double * output(std::string_view name, std::size_t size) const
  {
    const Numbers * place = find(outputs_, name);
    return place && place->size == size ? out_.data() + place->begin : nullptr;
  }

  /// Say which input or output of a name and size it lacks; nothing where it has all.
  using Sizes = std::initializer_list<std::pair<const char *, std::size_t>>;
  std::string lacks(Sizes inputs, Sizes outputs)
  {
    for (const auto & [name, size] : inputs) {
      if (!input(name, size)) {return std::string("the tape lacks the input ") + name;}
    }
    for (const auto & [name, size] : outputs) {
      if (!output(name, size)) {return std::string("the tape lacks the output ") + name;}
    }
    return "";
  }

  /// Compute the outputs from the inputs.
  void evaluate() noexcept
  {
    double * const cells = cells_.data();
    const Instruction * i = program_.data();
    // A tape is written so that equal operations follow each other: a tight loop for each such run.
    const auto run = [&](auto operation) {
        const auto number = i->operation;
        do {
          cells[i->target] = operation(cells[i->a], cells[i->b]);
        } while ((++i)->operation == number);
      };
    while (i->operation != END) {
      switch (i->operation) {
        case 0: run([](double a, double b) {return a + b;}); break;
        case 1: run([](double a, double b) {return a - b;}); break;
        case 2: run([](double a, double b) {return a * b;}); break;
        case 3: run([](double a, double b) {return a / b;}); break;
        case 4: run([](double a, double) {return -a;}); break;
        case 5: run([](double a, double) {return std::cos(a);}); break;
        case 6: run([](double a, double) {return std::exp(a);}); break;
        case 7: run([](double a, double) {return std::fabs(a);}); break;
        case 8: run([](double a, double) {return std::sin(a);}); break;
        default: run([](double a, double) {return std::tanh(a);}); break;
      }
    }
    for (std::size_t k = 0; k < results_.size(); k++) {out_[k] = cells[results_[k]];}
  }

private:
  static_assert(std::numeric_limits<double>::is_iec559, "a tape's numbers are IEEE 754");
  static constexpr std::uint16_t OPERATIONS = 10, END = OPERATIONS;
  static constexpr std::uint32_t MAX_COUNT = 1 << 20;
  static constexpr std::size_t MAX_CELLS = 1 << 16;
  static constexpr double TOLERANCE = 1e-9;

  struct Instruction
  {
    std::uint16_t operation, target, a, b;
  };
  class Bytes;

  static const Numbers * find(const std::vector<Numbers> & all, std::string_view name)
  {
    const auto place = std::find_if(all.begin(), all.end(), [&](const Numbers & each) {return each.name == name;});
    return place == all.end() ? nullptr : &*place;
  }
  std::string read(Bytes bytes);
  std::string prove();

  std::size_t first_ = 0;           // register
  std::vector<double> cells_;       // constants, inputs, registers
  std::vector<Instruction> program_;
  std::vector<std::uint16_t> results_;
  std::vector<double> out_;
  std::vector<double> tests_;
  std::vector<Numbers> inputs_, outputs_;
};

/// The bytes of a file from its beginning to its end, little-endian. Who reads has asked for their number.
class Tape::Bytes
{
public:
  Bytes(const std::uint8_t * data, std::size_t size) : data_(data), left_(size) {}

  std::uint64_t left() const {return left_;}

  template<typename T>
  T next()
  {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); i++) {
      value = static_cast<T>(value | static_cast<T>(static_cast<T>(data_[i]) << (8 * i)));
    }
    data_ += sizeof(T);
    left_ -= sizeof(T);
    return value;
  }

  double number()
  {
    const auto bits = next<std::uint64_t>();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  /// The lines of the text that is left.
  std::vector<std::string> lines()
  {
    std::vector<std::string> all(1);
    while (left_ > 0) {
      const char letter = static_cast<char>(next<std::uint8_t>());
      if (letter == '\n') {all.emplace_back();} else {all.back() += letter;}
    }
    return all;
  }

  std::uint32_t checksum() const {return ros2_dyn::checksum(data_, left_);}

private:
  const std::uint8_t * data_;
  std::size_t left_;
};

inline std::optional<Tape> Tape::load(const std::uint8_t * data, std::size_t size, std::string & why)
{
  Tape tape;
  why = tape.read(Bytes(data, size));
  if (why.empty()) {why = tape.prove();}
  if (!why.empty()) {
    why += "; write it again by `ros2_dyn export --tape`";
    return std::nullopt;
  }
  return tape;
}

inline std::string Tape::read(Bytes bytes)
{
  constexpr std::size_t prefix = 16, header = 48;
  const std::string magic = "ros2tape";
  if (bytes.left() < prefix + header) {return "it does not begin as one does";}
  for (const char letter : magic) {
    if (bytes.next<std::uint8_t>() != static_cast<std::uint8_t>(letter)) {return "it does not begin as one does";}
  }
  if (bytes.next<std::uint32_t>() != 1) {return "it has another version than 1";}
  if (const auto sum = bytes.next<std::uint32_t>(); sum != bytes.checksum()) {return "its checksum is wrong";}

  description = bytes.next<std::uint64_t>();
  std::array<std::uint32_t, 10> counts;
  for (auto & count : counts) {count = bytes.next<std::uint32_t>();}
  if (*std::max_element(counts.begin(), counts.end()) > MAX_COUNT) {return "a number of its header is too large";}
  const auto [joint_count, n, input_count, output_count, constants, registers, instructions, results, tests, text] =
    counts;
  if (bytes.left() < 4ull * input_count + 12ull * output_count) {return "it is cut off";}

  std::uint64_t given = 0, computed = 0;
  for (std::uint32_t i = 0; i < input_count; i++) {
    const auto length = bytes.next<std::uint32_t>();
    inputs_.push_back({"", static_cast<std::size_t>(constants + given), length});
    given += length;
  }
  if (given > MAX_COUNT) {return "its inputs are too many";}
  for (std::uint32_t i = 0; i < output_count; i++) {
    const auto dimensions = bytes.next<std::uint32_t>(), rows = bytes.next<std::uint32_t>(),
      columns = bytes.next<std::uint32_t>();
    if (dimensions > 2) {return "an output has more than two dimensions";}
    const std::uint64_t length = (dimensions > 0 ? rows : 1ull) * (dimensions > 1 ? columns : 1ull);
    outputs_.push_back({"", static_cast<std::size_t>(computed), static_cast<std::size_t>(length)});
    computed += length;
    if (length > results || computed > results) {return "the shapes of its outputs are not those of its results";}
  }
  if (computed != results) {return "the shapes of its outputs are not those of its results";}
  first_ = static_cast<std::size_t>(constants + given);
  if (first_ + registers > MAX_CELLS) {return "it has too many cells";}
  const std::uint64_t doubles = 4ull * n + constants + given + tests * (given + results);
  if (bytes.left() != 8 * doubles + 8ull * instructions + 2ull * results + text) {return "its length is wrong";}

  limits.resize(n);
  for (auto & joint : limits) {joint = {bytes.number(), bytes.number(), bytes.number(), bytes.number()};}
  cells_.resize(first_ + registers);
  std::generate_n(cells_.begin(), first_, [&] {return bytes.number();});
  tests_.resize(static_cast<std::size_t>(tests * (given + results)));
  std::generate(tests_.begin(), tests_.end(), [&] {return bytes.number();});
  program_.resize(instructions);
  const auto word = [&] {return bytes.next<std::uint16_t>();};
  for (auto & instruction : program_) {instruction = {word(), word(), word(), word()};}
  program_.push_back({END, 0, 0, 0});
  results_.resize(results);
  std::generate(results_.begin(), results_.end(), word);
  out_.resize(results);

  const auto names = bytes.lines();
  if (names.size() != 2u + joint_count + input_count + output_count) {return "its names are wrong";}
  robot = names[0];
  link = names[1];
  auto name = names.cbegin() + 2;
  joints.assign(name, name + joint_count);
  name += joint_count;
  for (auto * all : {&inputs_, &outputs_}) {
    for (auto & each : *all) {
      if (find(*all, *name)) {return "its names are wrong";}
      each.name = *name++;
    }
  }
  return "";
}

inline std::string Tape::prove()
{
  if (!std::all_of(cells_.begin(), cells_.end(), [](double x) {return std::isfinite(x);})) {
    return "a constant or an input is not finite";
  }
  std::vector<bool> written(cells_.size(), false);
  std::fill_n(written.begin(), first_, true);
  const auto known = [&](std::uint16_t cell) {return cell < written.size() && written[cell];};
  for (auto each = program_.cbegin(); each != program_.cend() - 1; ++each) {
    const Instruction & i = *each;
    if (i.operation >= OPERATIONS) {return "an instruction has an unknown operation";}
    if (!known(i.a) || !known(i.b)) {return "an instruction reads a cell that nothing has written";}
    if (i.target < first_ || i.target >= cells_.size()) {return "an instruction writes a cell that is no register";}
    written[i.target] = true;
  }
  if (!std::all_of(results_.begin(), results_.end(), known)) {return "an output reads a cell that nothing has written";}

  if (tests_.empty()) {return "it has no self-test";}
  const std::size_t begin = inputs_.empty() ? first_ : inputs_[0].begin, given = first_ - begin;
  const std::vector<double> defaults(cells_.begin() + static_cast<std::ptrdiff_t>(begin), cells_.end());
  for (auto row = tests_.cbegin(); row != tests_.cend(); row += static_cast<std::ptrdiff_t>(given + out_.size())) {
    std::copy_n(row, given, cells_.begin() + static_cast<std::ptrdiff_t>(begin));
    evaluate();
    for (const Numbers & output : outputs_) {
      double error = 0.0, largest = 0.0;
      for (std::size_t k = output.begin; k < output.begin + output.size; k++) {
        const double expected = *(row + static_cast<std::ptrdiff_t>(given + k));
        largest = std::max(largest, std::fabs(expected));
        error = std::isfinite(out_[k] - expected) ? std::max(error, std::fabs(out_[k] - expected)) : HUGE_VAL;
      }
      if (!std::isfinite(error) || error > TOLERANCE * (1.0 + largest)) {
        return "output '" + output.name + "' is not what its self-test says";
      }
    }
  }
  std::copy(defaults.begin(), defaults.end(), cells_.begin() + static_cast<std::ptrdiff_t>(begin));
  return "";
}

/// The FNV-1a hash, of 64 bits, of a description without white space and comments.
inline std::uint64_t description_hash(std::string_view xml)
{
  constexpr std::string_view begin = "<!--", end = "-->";
  std::uint64_t value = 0xCBF29CE484222325ull;
  for (std::size_t i = 0; i < xml.size(); i++) {
    const bool comment = xml.compare(i, begin.size(), begin) == 0;
    if (const auto last = comment ? xml.find(end, i + begin.size()) : xml.npos; last != xml.npos) {
      i = last + end.size() - 1;
    } else if (const char letter = xml[i]; letter != ' ' && (letter < '\t' || letter > '\r')) {
      value = (value ^ static_cast<std::uint8_t>(letter)) * 0x100000001B3ull;
    }
  }
  return value;
}

}  // namespace ros2_dyn
