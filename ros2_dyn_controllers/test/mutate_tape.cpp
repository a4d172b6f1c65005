// SPDX-License-Identifier: Apache-2.0
// Loads mutations of a tape, and runs those that load: under sanitizers, which stop at what is read or written outside.
// Arguments: file, number of mutations, seed. Prints how many were loaded, and refused. It counts what is allocated
// while one is evaluated, too.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "count_allocations.hpp"
#include "ros2_dyn_controllers/tape.hpp"

int main(int, char ** arguments)
{
  std::ifstream file(arguments[1], std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::vector<std::uint8_t> whole(text.begin(), text.end());
  std::mt19937 random(static_cast<unsigned>(std::atoi(arguments[3])));
  const auto below = [&](std::size_t n) {return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);};
  constexpr std::size_t prefix = 16, header = 64;
  std::size_t loaded = 0, during = 0, total = static_cast<std::size_t>(std::atol(arguments[2]));
  for (std::size_t k = 0; k < total; k++) {
    std::vector<std::uint8_t> data = whole;
    if (below(8) == 0) {data.resize(prefix + below(whole.size() - prefix));}
    for (std::size_t i = 0, changes = 1 + below(4); i < changes && data.size() > prefix; i++) {
      const std::size_t end = below(3) == 0 ? std::min(header, data.size()) : data.size();  // the header more often
      data[prefix + below(end - prefix)] = static_cast<std::uint8_t>(below(256));
    }
    const std::uint32_t sum = ros2_dyn::checksum(data.data() + prefix, data.size() - prefix);
    for (int i = 0; i < 4; i++) {data[12 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(sum >> (8 * i));}
    // Of exactly this size on the heap, so that a byte beyond the last is seen.
    const std::vector<std::uint8_t> exact(data.begin(), data.end());
    std::string why;
    if (auto tape = ros2_dyn::Tape::load(exact.data(), exact.size(), why)) {
      loaded++;
      const std::size_t before = allocated;
      tape->evaluate();
      during += allocated - before;
    }
  }
  std::printf("%zu loaded, %zu refused, %zu allocations\n", loaded, total - loaded, during);
}
