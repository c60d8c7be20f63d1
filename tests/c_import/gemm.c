/* Several functions in one file; pointers to rows, a typedef, scalars passed by value, C++ words as names. */
#include <stddef.h>
typedef float real;
typedef real row_t;

static inline real scaled(real a, real x) { return a * x; }
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void gemm(size_t m, size_t n, size_t k, real alpha, real beta, const real (*restrict A)[k], const real (*restrict B)[n],
          row_t (*restrict C)[n]) {
  size_t i, j, p;
#pragma scop
  for (i = 0; i < m; i++)
    for (j = 0; j < n; j++) {
      C[i][j] *= beta;
      for (p = 0; p < k; ++p) C[i][j] += scaled(alpha, A[i][p]) * B[p][j];
    }
#pragma endscop
}

/* The bounds are a maximum; loops count down; the local has a name that C++ keeps. */
void triangle(int n, double class[n][n], double *this) {
#pragma scop
  for (int i = n - 1; i >= 0; --i) {
    double new = this[i];
    for (int j = MAX(i + 1, 2); j <= n - 1; j += 1)
      new -= class[i][j] * this[j];
    this[i] = new / class[i][i];
  }
#pragma endscop
}

/* No pragma: the function itself is the region. */
void mean_square(int n, const float x[], float *result) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  *result = sum / n;
}
