#pragma once

// The one place where MPI is used: a small shared library with a C interface, loaded only under mpirun. On a
// machine without MPI the program still starts, and says what is missing.

extern "C" {

/// Texts exchanged between ranks are at most this long, terminator included.
enum { REGRAFT_MPI_TEXT = 4096 };

/// MPI_Init. 0, or an MPI error code. Fills rank and size.
int regraft_mpi_start(int* rank, int* size);
/// Every rank gives one text of REGRAFT_MPI_TEXT bytes; rank 0 gets size * REGRAFT_MPI_TEXT bytes, the others
/// nothing.
int regraft_mpi_gather(const char* mine, char* all);
/// Rank 0's text of REGRAFT_MPI_TEXT bytes to everyone. Who waits for it sleeps: it may take hours.
int regraft_mpi_broadcast(char* text);
/// MPI_Finalize; waits for the other ranks.
int regraft_mpi_stop();
}
