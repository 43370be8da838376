; gemm-matmul: Gemm(x, w) => MatMul(x, w)
; For all dims; 1 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; Then whole equalities of both sides as the operations define them: 1 of 1, in 1 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   sum k!14: [(and (>= k!14 0) (< k!14 t0_1_0_d_1))] t0_1_0[i_4, k!14] t0_2_0[k!14, i_5]
;     and sum k!16: [(and (>= k!16 0) (< k!16 t0_1_0_d_1))] t0_1_0[i_4, k!16] t0_2_0[k!16, i_5]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (= n0 n1))
(assert (not (= n0 n1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
(declare-fun r2 () Real)
; r0 is (sum k0 (ite (and (>= k0 0) (< k0 t0_1_0_d_1)) (* (t0_1_0/2 i_4 k0) (t0_2_0/2 k0 i_5)) 0.0))
; r2 is (sum k0 (ite (and (>= k0 0) (< k0 t0_1_0_d_1)) (* (t0_1_0/2 i_4 k0) (t0_2_0/2 k0 i_5)) 0.0))
; r1 is (let ((a!1 (ite (and (>= k0 0) (not (<= t0_1_0_d_1 k0))) (* (t0_1_0/2 i_4 k0) (t0_2_0/2 k0 i_5)) 0.0))) (sum k0 a!1))
; axiom: a product of sums is the sum of all products
(assert (= (* 1.0 r0) r1))
; axiom: sums of equal summands are equal
(assert (= r1 r2))
; the two sides
(assert (not (= (* 1.0 r0) r2)))
(check-sat)
(pop)
