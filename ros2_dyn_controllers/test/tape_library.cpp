// SPDX-License-Identifier: Apache-2.0
// tape.hpp as a library with a C interface.
#include <cstring>

#include "ros2_dyn_controllers/tape.hpp"

using ros2_dyn::Tape;

extern "C"
{

/// Return a tape; null, and why in a text of 200 bytes, where it is refused.
Tape * tape_load(const std::uint8_t * data, std::size_t size, char * why)
{
  std::string text;
  auto tape = Tape::load(data, size, text);
  std::strncpy(why, text.c_str(), 199);
  return tape ? new Tape(std::move(*tape)) : nullptr;
}

void tape_free(Tape * tape) {delete tape;}

double * tape_input(Tape * tape, const char * name, std::size_t size) {return tape->input(name, size);}

const double * tape_output(Tape * tape, const char * name, std::size_t size) {return tape->output(name, size);}

void tape_evaluate(Tape * tape) {tape->evaluate();}

std::uint64_t tape_description_hash(const char * xml) {return ros2_dyn::description_hash(xml);}

}
