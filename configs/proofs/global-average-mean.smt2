; global-average-mean: GlobalAveragePool(x) => ReduceMean{range(2, rank(x)), 1}(x)
; For all dims; 2 cases, ranks to 4.
; What is left to confirm once both sides are in normal form, each with its negation asserted: 0 conditions.
; The last case is
;   sum k!46 k!47: [(and (>= k!46 0) (< k!46 t0_1_0_d_3)) (and (>= k!47 0) (< k!47 t0_1_0_d_2))] one_over[(* t0_1_0_d_2 t0_1_0_d_3)] t0_1_0[i_4, i_5, k!47, k!46]
;     and sum k!53 k!54: [(and (>= k!53 0) (< k!53 t0_1_0_d_3)) (and (>= k!54 0) (< k!54 t0_1_0_d_2))] one_over[(* t0_1_0_d_2 t0_1_0_d_3)] t0_1_0[i_4, i_5, k!54, k!53]
(assert false) ; both sides have one normal form: no condition is left
(check-sat)
