#pragma endscop
z[0] = 1;
#pragma scop
