; relu-relu: Relu(Relu(x)) => Relu(x)
; For all dims; 6 cases, ranks to 5.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; Then whole equalities of both sides as the operations define them: 6 of 6, in 6 blocks.
; What is taken for granted, of places, sums and products, is called an axiom.
; The last case is
;   Relu(t0_2_0[i_5, i_6, i_7, i_8, i_9])
;     and Relu(t0_2_0[i_5, i_6, i_7, i_8, i_9])
(set-option :reproducible-resource-limit 100000000)
(push)
(declare-fun f0 (Real) Real)
(declare-fun r1 () Real)
; axiom: Relu leaves what Relu yields
(assert (= (f0 (f0 r1)) (f0 r1)))
; the two sides
(assert (not (= (f0 (f0 r1)) (f0 r1))))
(check-sat)
(pop)
(push)
(declare-fun f0 (Real) Real)
(declare-fun f1 (Int) Real)
(declare-fun n2 () Int)
; axiom: Relu leaves what Relu yields
(assert (= (f0 (f0 (f1 n2))) (f0 (f1 n2))))
; the two sides
(assert (let ((a!1 (= (f0 (f0 (f1 n2))) (f0 (f1 n2))))) (not a!1)))
(check-sat)
(pop)
(push)
(declare-fun f0 (Real) Real)
(declare-fun f1 (Int Int) Real)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
; axiom: Relu leaves what Relu yields
(assert (= (f0 (f0 (f1 n2 n3))) (f0 (f1 n2 n3))))
; the two sides
(assert (let ((a!1 (= (f0 (f0 (f1 n2 n3))) (f0 (f1 n2 n3))))) (not a!1)))
(check-sat)
(pop)
(push)
(declare-fun f0 (Real) Real)
(declare-fun f1 (Int Int Int) Real)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(declare-fun n4 () Int)
; axiom: Relu leaves what Relu yields
(assert (= (f0 (f0 (f1 n2 n3 n4))) (f0 (f1 n2 n3 n4))))
; the two sides
(assert (let ((a!1 (= (f0 (f0 (f1 n2 n3 n4))) (f0 (f1 n2 n3 n4))))) (not a!1)))
(check-sat)
(pop)
(push)
(declare-fun f0 (Real) Real)
(declare-fun f1 (Int Int Int Int) Real)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(declare-fun n4 () Int)
(declare-fun n5 () Int)
; axiom: Relu leaves what Relu yields
(assert (= (f0 (f0 (f1 n2 n3 n4 n5))) (f0 (f1 n2 n3 n4 n5))))
; the two sides
(assert (let ((a!1 (= (f0 (f0 (f1 n2 n3 n4 n5))) (f0 (f1 n2 n3 n4 n5))))) (not a!1)))
(check-sat)
(pop)
(push)
(declare-fun f0 (Real) Real)
(declare-fun f1 (Int Int Int Int Int) Real)
(declare-fun n2 () Int)
(declare-fun n3 () Int)
(declare-fun n4 () Int)
(declare-fun n5 () Int)
(declare-fun n6 () Int)
; axiom: Relu leaves what Relu yields
(assert (= (f0 (f0 (f1 n2 n3 n4 n5 n6))) (f0 (f1 n2 n3 n4 n5 n6))))
; the two sides
(assert (let ((a!1 (= (f0 (f0 (f1 n2 n3 n4 n5 n6))) (f0 (f1 n2 n3 n4 n5 n6))))) (not a!1)))
(check-sat)
(pop)
