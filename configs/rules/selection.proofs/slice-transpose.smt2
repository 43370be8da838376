; slice-transpose: Slice{i, j, [a], t}(Transpose{p}(x)) => Transpose{p}(Slice{i, j, [p[a]], t}(x))
; For all dims; 119 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 1 conditions.
; The last case is
;   t0_2_0[i_7, i_8, i_9, (+ (* i_10 steps_6) starts_4)]
;     and t0_2_0[i_7, i_8, i_9, (+ (* i_10 steps_6) starts_4)]
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
