; transpose-transpose: Transpose{p}(Transpose{q}(x)) => Transpose{permute(q, p)}(x)
; For all dims; 618 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; Then whole equalities of both sides as the operations define them: 618 of 618, in 5 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   t0_2_0[i_4, i_5, i_6, i_7]
;     and t0_2_0[i_4, i_5, i_6, i_7]
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun r0 () Real)
; the two sides
(assert (not (= r0 r0)))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int) Real)
(declare-fun n1 () Int)
; the two sides
(assert (not (= (f0 n1) (f0 n1))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int Int) Real)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
; the two sides
(assert (not (= (f0 n1 n2) (f0 n1 n2))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int Int Int) Real)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
; the two sides
(assert (not (= (f0 n1 n2 n3) (f0 n1 n2 n3))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Int Int Int Int) Real)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(declare-fun n4 () Int)
; the two sides
(assert (not (= (f0 n1 n2 n3 n4) (f0 n1 n2 n3 n4))))
(check-sat)
(pop)
