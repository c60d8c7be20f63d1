#pragma scop
for (int i = 0; i < NI; i++) {
  for (int j = 0; j < NJ; j++)
    C[i][j] *= beta;
  for (int k = 0; k < NK; k++)
    for (int j = 0; j < NJ; j++)
      C[i][j] += alpha * A[i][k] * B[k][j];
}
#pragma endscop
