/* A five-point stencil over time, as people write it: macros for the element type and for the point, variable-length arrays. */
#include <math.h>
#define REAL double
#define POINT(a, i, j) (a[i][j] + a[i][(j) - 1] + a[i][(j) + 1] + a[(i) + 1][j] + a[(i) - 1][j])
#define FOR(v, lo, hi) for (int v = (lo); v < (hi); v++)

void stencil(int steps, int n, int m, REAL A[n][m], REAL B[n][m]) {
  const REAL weight = 0.2;
#pragma scop
  for (int t = 0; t < steps; t++) {
    FOR(i, 1, n - 1)
      FOR(j, 1, m - 1)
        B[i][j] = weight * POINT(A, i, j);
    FOR(i, 1, n - 1)
      FOR(j, 1, m - 1)
        A[i][j] = weight * POINT(B, i, j);
  }
#pragma endscop
}
