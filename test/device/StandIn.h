// What tests may ask of a stand-in driver library, by dlsym.
#pragma once

#include <cstdint>

extern "C" {
/// Who executes what is launched: the image, the entry's name, three numbers
/// of blocks and three of threads, bytes of shared memory asked for, the first
/// parameter. What it gives is the driver's code.
using standin_runner = int (*)(const char *image, const char *entry,
                               const unsigned *shape, unsigned sharedBytes,
                               const void *parameter);
/// From now on launches are executed, and memory lies in that range.
void standin_execute(standin_runner runner, std::uint64_t begin);
/// Address and bytes of what is allocated there, at most `most` of them.
long standin_memory(std::uint64_t *pairs, long most);
/// Forgets all that was recorded; nothing may be alive.
void standin_reset();
/// The call with that number, counted from 0 since the reset, gives `code`.
void standin_fail(long call, int code);
/// What the driver says of an attribute of its devices, until the reset; of
/// the number 0: whether streams are being captured.
void standin_attribute(int attribute, int value);
/// Driver calls since the reset.
long standin_calls();
/// Objects that were made and not given back: contexts, memory, modules, …
long standin_live();
/// Wrong uses of the driver so far, one a line; "" when there are none.
const char *standin_violations();
/// Launches so far, one a line: "add grid 4 1 1 block 128 1 1 shared 0
/// parameters 8:4096 4:7", a parameter's size and its words.
const char *standin_launches();
}
