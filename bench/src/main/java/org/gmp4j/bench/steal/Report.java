// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.List;

import org.gmp4j.bench.measure.IdleCpu;
import org.gmp4j.bench.measure.Others;
import org.gmp4j.bench.report.MachineInfo;

/**
 * All that was found out.
 *
 * @param machine where
 * @param settings under which settings
 * @param clock with what clock
 * @param ownerCpu the CPU that victims' owner was seen on
 * @param thiefCpu the CPU that the thief was seen on
 * @param warmUpNanos for how long nothing was recorded, in all
 * @param pushpop push and pop beside C
 * @param results the runs
 * @param idle CPU use while idle: first without a scheduler, then by policy
 * @param others what others had of the CPUs
 */
record Report(
        MachineInfo machine,
        Settings settings,
        Clock clock,
        int ownerCpu,
        int thiefCpu,
        long warmUpNanos,
        Floor pushpop,
        List<Result> results,
        List<IdleCpu> idle,
        Others.Summary others) {
    /** Returns the runs of one kind. */
    List<Result> of(Run.Kind kind) {
        return results.stream().filter(r -> r.run().kind() == kind).toList();
    }
}
