// What tests may ask of a stand-in driver library, by dlsym.
#pragma once

extern "C" {
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
