// dgelqf + dorglq of the transpose, Householder's
// not compared: rows have other signs
int n = N, m = M, size = ROOM, info;
memcpy(Q, A_given, sizeof(double) * N * M);
dgelqf_(&n, &m, Q[0], &n, ones, room, &size, &info);
for (int j = 0; j < N; j++)
  for (int i = j; i < N; i++)
    R[j][i] = Q[j][i];
dorglq_(&n, &m, &n, Q[0], &n, ones, room, &size, &info);
