; slice-rows: f:Slice{*, axes=[a]}(MatMul(x, y)), rank(x) == rank(y), a == rank(x) - 2 => MatMul(f(x), y)
; For all dims; 4 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 3 conditions.
; Then whole equalities of both sides as the operations define them: 4 of 4, in 4 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   sum k!33: [(and (>= k!33 0) (< k!33 t0_2_0_d_4))] t0_2_0[(ite (= t0_2_0_d_0 1) 0 i_13), (ite (= t0_2_0_d_1 1) 0 i_14), (ite (= t0_2_0_d_2 1) 0 i_15), (+ (* i_16 steps_12) starts_10), k!33] t0_3_0[(ite (= t0_3_0_d_5 1) 0 i_13), (ite (= t0_3_0_d_6 1) 0 i_14), (ite (= t0_3_0_d_7 1) 0 i_15), k!33, i_17]
;     and sum k!35: [(and (>= k!35 0) (< k!35 t0_2_0_d_4))] t0_2_0[(ite (= t0_2_0_d_0 1) 0 i_13), (ite (= t0_2_0_d_1 1) 0 i_14), (ite (= t0_2_0_d_2 1) 0 i_15), (+ (* i_16 steps_12) starts_10), k!35] t0_3_0[(ite (= t0_3_0_d_5 1) 0 i_13), (ite (= t0_3_0_d_6 1) 0 i_14), (ite (= t0_3_0_d_7 1) 0 i_15), k!35, i_17]
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
(declare-fun n0 () Int)
(declare-fun n1 () Int)
(assert (or (= n0 n1) (= n0 1) (= n1 1)))
(assert (not (or (= n0 n1) (= n0 1) (= n1 1))))
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
; r0 is (let ((a!1 (* (t0_2_0/3 (ite (= t0_2_0_d_0 1) 0 i_9) (+ (* i_10 steps_8) starts_6) k0) (t0_3_0/3 (ite (= t0_3_0_d_3 1) 0 i_9) k0 i_11)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/3 (ite (= t0_2_0_d_0 1) 0 i_9) (+ (* i_10 steps_8) starts_6) k0) (t0_3_0/3 (ite (= t0_3_0_d_3 1) 0 i_9) k0 i_11)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/4 (ite (= t0_2_0_d_0 1) 0 i_11) (ite (= t0_2_0_d_1 1) 0 i_12) (+ (* i_13 steps_10) starts_8) k0) (t0_3_0/4 (ite (= t0_3_0_d_4 1) 0 i_11) (ite (= t0_3_0_d_5 1) 0 i_12) k0 i_14)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/4 (ite (= t0_2_0_d_0 1) 0 i_11) (ite (= t0_2_0_d_1 1) 0 i_12) (+ (* i_13 steps_10) starts_8) k0) (t0_3_0/4 (ite (= t0_3_0_d_4 1) 0 i_11) (ite (= t0_3_0_d_5 1) 0 i_12) k0 i_14)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (* (t0_2_0/5 (ite (= t0_2_0_d_0 1) 0 i_13) (ite (= t0_2_0_d_1 1) 0 i_14) (ite (= t0_2_0_d_2 1) 0 i_15) (+ (* i_16 steps_12) starts_10) k0) (t0_3_0/5 (ite (= t0_3_0_d_5 1) 0 i_13) (ite (= t0_3_0_d_6 1) 0 i_14) (ite (= t0_3_0_d_7 1) 0 i_15) k0 i_17)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!1 0.0)))
; r1 is (let ((a!1 (* (t0_2_0/5 (ite (= t0_2_0_d_0 1) 0 i_13) (ite (= t0_2_0_d_1 1) 0 i_14) (ite (= t0_2_0_d_2 1) 0 i_15) (+ (* i_16 steps_12) starts_10) k0) (t0_3_0/5 (ite (= t0_3_0_d_5 1) 0 i_13) (ite (= t0_3_0_d_6 1) 0 i_14) (ite (= t0_3_0_d_7 1) 0 i_15) k0 i_17)))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) a!1 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
