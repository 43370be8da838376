; flatten-reshape: y = Flatten{axis=a}(x) => y = Reshape{dims(y)}(x)
; For all dims; 15 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; Then whole equalities of both sides as the operations define them: 15 of 15, in 5 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   t0_1_0[at_7, at_8, at_9, at_10, i_6]
;     and t0_1_0[at_7, at_8, at_9, at_10, i_6]
(set-option :reproducible-resource-limit 100000000)
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
(push)
(declare-fun f0 (Int Int Int Int Int) Real)
(declare-fun n1 () Int)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(declare-fun n4 () Int)
(declare-fun n5 () Int)
; the two sides
(assert (not (= (f0 n1 n2 n3 n4 n5) (f0 n1 n2 n3 n4 n5))))
(check-sat)
(pop)
