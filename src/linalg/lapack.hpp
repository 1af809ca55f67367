#pragma once

// The few LAPACK routines we call, on the lower triangle, column-major. Each returns LAPACK's info.
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, int);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda, int* info,
             int, int);
void dlauum_(const char* uplo, const int* n, double* a, const int* lda, int* info, int);
void dpocon_(const char* uplo, const int* n, const double* a, const int* lda, const double* anorm,
             double* rcond, double* work, int* iwork, int* info, int);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info, int, int);
}

namespace covary {

inline int potrf(int n, double* a, int lda) {
  int info = 0;
  dpotrf_("L", &n, a, &lda, &info, 1);
  return info;
}
inline int trtri(int n, double* a, int lda) {
  int info = 0;
  dtrtri_("L", "N", &n, a, &lda, &info, 1, 1);
  return info;
}
inline int lauum(int n, double* a, int lda) {
  int info = 0;
  dlauum_("L", &n, a, &lda, &info, 1);
  return info;
}

}  // namespace covary
