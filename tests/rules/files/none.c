for (int i = 0; i < 3; i++) A[i] = 2 * A[i];
