#pragma scop
for (int i = 0; i < M; i++)
  for (int j = 0; j < N; j++) {
    double below = 0.0;
    for (int k = 0; k < i; k++) {
      C[k][j] += alpha * B[i][j] * A[i][k];
      below += B[k][j] * A[i][k];
    }
    C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * below;
  }
#pragma endscop
