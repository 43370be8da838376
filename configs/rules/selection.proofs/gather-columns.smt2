; gather-columns: Gather{a}(MatMul(x, w), i), const(i, w), rank(i) == 1, rank(w) == 2, a == rank(x) - 1 => MatMul(x, Gather{1}(w, i))
; For all dims; 5 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; Then whole equalities of both sides as the operations define them: 5 of 5, in 5 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   sum k!617: [(and (>= k!617 0) (< k!617 t0_2_0_d_4))] t0_2_0[i_8, i_9, i_10, i_11, k!617] t0_3_0[k!617, (ite (< (t0_4_0 i_12) 0) (+ (t0_4_0 i_12) t0_3_0_d_6) (t0_4_0 i_12))]
;     and sum k!619: [(and (>= k!619 0) (< k!619 t0_2_0_d_4))] t0_2_0[i_8, i_9, i_10, i_11, k!619] t0_3_0[k!619, (ite (< (t0_4_0 i_12) 0) (+ (t0_4_0 i_12) t0_3_0_d_6) (t0_4_0 i_12))]
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
; r0 is (let ((a!1 (t0_3_0/2 k0 (ite (<= 0 (t0_4_0 i_4)) (t0_4_0 i_4) (+ (t0_4_0 i_4) t0_3_0_d_2))))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_0)) (* (t0_2_0/1 k0) a!1) 0.0)))
; r1 is (let ((a!1 (t0_3_0/2 k0 (ite (<= 0 (t0_4_0 i_4)) (t0_4_0 i_4) (+ (t0_4_0 i_4) t0_3_0_d_2))))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_0)) (* (t0_2_0/1 k0) a!1) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_3_0/2 k0 (ite (<= 0 (t0_4_0 i_6)) (t0_4_0 i_6) (+ (t0_4_0 i_6) t0_3_0_d_3))))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* (t0_2_0/2 i_5 k0) a!1) 0.0)))
; r1 is (let ((a!1 (t0_3_0/2 k0 (ite (<= 0 (t0_4_0 i_6)) (t0_4_0 i_6) (+ (t0_4_0 i_6) t0_3_0_d_3))))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_1)) (* (t0_2_0/2 i_5 k0) a!1) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_3_0/2 k0 (ite (<= 0 (t0_4_0 i_8)) (t0_4_0 i_8) (+ (t0_4_0 i_8) t0_3_0_d_4))))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) (* (t0_2_0/3 i_6 i_7 k0) a!1) 0.0)))
; r1 is (let ((a!1 (t0_3_0/2 k0 (ite (<= 0 (t0_4_0 i_8)) (t0_4_0 i_8) (+ (t0_4_0 i_8) t0_3_0_d_4))))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_2)) (* (t0_2_0/3 i_6 i_7 k0) a!1) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_3_0/2 k0 (ite (<= 0 (t0_4_0 i_10)) (t0_4_0 i_10) (+ (t0_4_0 i_10) t0_3_0_d_5))))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) (* (t0_2_0/4 i_7 i_8 i_9 k0) a!1) 0.0)))
; r1 is (let ((a!1 (t0_3_0/2 k0 (ite (<= 0 (t0_4_0 i_10)) (t0_4_0 i_10) (+ (t0_4_0 i_10) t0_3_0_d_5))))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_3)) (* (t0_2_0/4 i_7 i_8 i_9 k0) a!1) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
(push)
(declare-fun r0 () Real)
(declare-fun r1 () Real)
; r0 is (let ((a!1 (t0_3_0/2 k0 (ite (<= 0 (t0_4_0 i_12)) (t0_4_0 i_12) (+ (t0_4_0 i_12) t0_3_0_d_6))))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) (* (t0_2_0/5 i_8 i_9 i_10 i_11 k0) a!1) 0.0)))
; r1 is (let ((a!1 (t0_3_0/2 k0 (ite (<= 0 (t0_4_0 i_12)) (t0_4_0 i_12) (+ (t0_4_0 i_12) t0_3_0_d_6))))) (sum k0 (ite (and (>= k0 0) (< k0 t0_2_0_d_4)) (* (t0_2_0/5 i_8 i_9 i_10 i_11 k0) a!1) 0.0)))
; axiom: sums of equal summands are equal
(assert (= r0 r1))
; the two sides
(assert (not (= r0 r1)))
(check-sat)
(pop)
