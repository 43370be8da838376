#include "launch/job/mpi_plugin.h"

#include <mpi.h>

#include <chrono>
#include <thread>

int regraft_mpi_start(int* rank, int* size) {
  if (const int code = MPI_Init(nullptr, nullptr); code != MPI_SUCCESS) return code;
  if (const int code = MPI_Comm_rank(MPI_COMM_WORLD, rank); code != MPI_SUCCESS) return code;
  return MPI_Comm_size(MPI_COMM_WORLD, size);
}

int regraft_mpi_gather(const char* mine, char* all) {
  return MPI_Gather(mine, REGRAFT_MPI_TEXT, MPI_CHAR, all, REGRAFT_MPI_TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
}

int regraft_mpi_broadcast(char* text) {
  constexpr std::chrono::milliseconds pause{10};
  MPI_Request request = MPI_REQUEST_NULL;
  const int begun = MPI_Ibcast(text, REGRAFT_MPI_TEXT, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
  if (begun != MPI_SUCCESS) return begun;
  for (int done = 0; done == 0;) {
    if (const int code = MPI_Test(&request, &done, MPI_STATUS_IGNORE); code != MPI_SUCCESS) return code;
    if (done == 0) std::this_thread::sleep_for(pause);
  }
  return MPI_SUCCESS;
}

int regraft_mpi_stop() {
  return MPI_Finalize();
}
