; mean-transpose: ReduceMean{[a], keepdims=1}(Transpose{p}(x)) => Transpose{p}(ReduceMean{[p[a]], 1}(x))
; For all dims; 119 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   sum k!6855: [(and (>= k!6855 0) (< k!6855 t0_2_0_d_3))] one_over[t0_2_0_d_3] t0_2_0[i_4, i_5, i_6, k!6855]
;     and sum k!6858: [(and (>= k!6858 0) (< k!6858 t0_2_0_d_3))] one_over[t0_2_0_d_3] t0_2_0[i_4, i_5, i_6, k!6858]
(set-option :reproducible-resource-limit 100000000)
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
