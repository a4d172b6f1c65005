// SPDX-License-Identifier: Apache-2.0
// Counts what is allocated by the one file that includes it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace
{
std::size_t allocated = 0;
}

void * operator new(std::size_t size)
{
  allocated++;
  if (void * memory = std::malloc(size)) {return memory;}
  throw std::bad_alloc();
}
void operator delete(void * memory) noexcept {std::free(memory);}
void operator delete(void * memory, std::size_t) noexcept {std::free(memory);}
