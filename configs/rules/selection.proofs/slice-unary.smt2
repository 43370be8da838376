; slice-unary: f:Slice{*}(g:Unary(x)) => g(f(x))
; For all dims; 27 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   f1(t0_2_0[(+ (* i_16 steps_12) starts_4), (+ (* i_17 steps_13) starts_5), (+ (* i_18 steps_14) starts_6), (+ (* i_19 steps_15) starts_7)])
;     and f1(t0_2_0[(+ (* i_16 steps_12) starts_4), (+ (* i_17 steps_13) starts_5), (+ (* i_18 steps_14) starts_6), (+ (* i_19 steps_15) starts_7)])
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
