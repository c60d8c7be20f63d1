#pragma scop
for (int i = 0; i < N; i++)
  for (int j = 0; j < N; j++)
    table[i][j] = 0;
for (int i = N - 1; i >= 0; i--)
  for (int j = i + 1; j < N; j++) {
    table[i][j] = max(table[i][j], table[i][j-1]);
    if (i + 1 < N)
      table[i][j] = max(table[i][j], table[i+1][j]);
    if (i + 1 < N) {
      if (i < j - 1)
        table[i][j] = max(table[i][j], table[i+1][j-1] + (seq[i] + seq[j] == 3 ? 1 : 0));
      else
        table[i][j] = max(table[i][j], table[i+1][j-1]);
    }
    for (int k = i + 1; k < j; k++)
      table[i][j] = max(table[i][j], table[i][k] + table[k+1][j]);
  }
#pragma endscop
