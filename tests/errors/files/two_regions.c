#pragma scop
z[0] = 1;
#pragma endscop
#pragma scop
z[1] = 1;
#pragma endscop
