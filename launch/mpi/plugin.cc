#include "launch/mpi/plugin.h"

#include <mpi.h>

int regraft_mpi_start(int* rank, int* size) {
  if (const int code = MPI_Init(nullptr, nullptr); code != MPI_SUCCESS) return code;
  if (const int code = MPI_Comm_rank(MPI_COMM_WORLD, rank); code != MPI_SUCCESS) return code;
  return MPI_Comm_size(MPI_COMM_WORLD, size);
}

int regraft_mpi_gather(const char* mine, char* all) {
  return MPI_Gather(mine, REGRAFT_MPI_TEXT, MPI_CHAR, all, REGRAFT_MPI_TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
}

int regraft_mpi_broadcast(char* text) {
  return MPI_Bcast(text, REGRAFT_MPI_TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
}

int regraft_mpi_stop() {
  return MPI_Finalize();
}
