; slice-linear: f:Slice{*, axes=[a]}(MatMul(x, w)), rank(w) == 2, a < rank(x) - 1 => MatMul(f(x), w)
; For all dims; 10 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 2 conditions.
; Then whole equalities of both sides as the operations define them: 10 of 10, in 10 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   sum k!313: [(and (>= k!313 0) (< k!313 t0_2_0_d_4))] t0_2_0[i_10, i_11, i_12, (+ (* i_13 steps_9) starts_7), k!313] t0_3_0[k!313, i_14]
;     and sum k!315: [(and (>= k!315 0) (< k!315 t0_2_0_d_4))] t0_2_0[i_10, i_11, i_12, (+ (* i_13 steps_9) starts_7), k!315] t0_3_0[k!315, i_14]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(assert (and (>= n0 0) (<= n0 n1) (<= n1 n2) (>= n3 1)))
(assert (not (and (>= n0 0) (<= n0 n1) (<= n1 n2) (>= n3 1))))
(check-sat)
(pop)
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
; r0 is (let ((a!1 (* (t0_2_0/2 (+ (* i_7 steps_6) starts_4) k0) (t0_3_0/2 k0 i_8)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/2 (+ (* i_7 steps_6) starts_4) k0) (t0_3_0/2 k0 i_8)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/3 (+ (* i_8 steps_7) starts_5) i_9 k0) (t0_3_0/2 k0 i_10)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/3 (+ (* i_8 steps_7) starts_5) i_9 k0) (t0_3_0/2 k0 i_10)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/3 i_8 (+ (* i_9 steps_7) starts_5) k0) (t0_3_0/2 k0 i_10)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/3 i_8 (+ (* i_9 steps_7) starts_5) k0) (t0_3_0/2 k0 i_10)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/4 (+ (* i_9 steps_8) starts_6) i_10 i_11 k0) (t0_3_0/2 k0 i_12)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/4 (+ (* i_9 steps_8) starts_6) i_10 i_11 k0) (t0_3_0/2 k0 i_12)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/4 i_9 (+ (* i_10 steps_8) starts_6) i_11 k0) (t0_3_0/2 k0 i_12)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/4 i_9 (+ (* i_10 steps_8) starts_6) i_11 k0) (t0_3_0/2 k0 i_12)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/4 i_9 i_10 (+ (* i_11 steps_8) starts_6) k0) (t0_3_0/2 k0 i_12)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/4 i_9 i_10 (+ (* i_11 steps_8) starts_6) k0) (t0_3_0/2 k0 i_12)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/5 (+ (* i_10 steps_9) starts_7) i_11 i_12 i_13 k0) (t0_3_0/2 k0 i_14)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/5 (+ (* i_10 steps_9) starts_7) i_11 i_12 i_13 k0) (t0_3_0/2 k0 i_14)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/5 i_10 (+ (* i_11 steps_9) starts_7) i_12 i_13 k0) (t0_3_0/2 k0 i_14)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/5 i_10 (+ (* i_11 steps_9) starts_7) i_12 i_13 k0) (t0_3_0/2 k0 i_14)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/5 i_10 i_11 (+ (* i_12 steps_9) starts_7) i_13 k0) (t0_3_0/2 k0 i_14)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/5 i_10 i_11 (+ (* i_12 steps_9) starts_7) i_13 k0) (t0_3_0/2 k0 i_14)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/5 i_10 i_11 i_12 (+ (* i_13 steps_9) starts_7) k0) (t0_3_0/2 k0 i_14)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/5 i_10 i_11 i_12 (+ (* i_13 steps_9) starts_7) k0) (t0_3_0/2 k0 i_14)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
