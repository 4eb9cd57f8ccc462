"""Executes PTX on NumPy arrays, vectorised over threads: tests run GPU code with it.

Every thread has a program counter of its own; the threads with the lowest one run, so that threads
meet again where control flow joins. Bounds and alignment of every access, races on shared memory
between warps, deadlock and traps are found on the way. Registers, shared and local memory start as
garbage.
"""
