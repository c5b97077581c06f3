// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkContainer;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.jspecify.annotations.Nullable;

/**
 * Shows the goroutines on pooled stacks in the JDK's own thread dumps: {@code jcmd PID Thread.dump_to_file}. A goroutine that has not begun
 * to run has no thread yet, so it is not shown there; {@link Traceback} shows it.
 */
final class Goroutines extends JdkContainer {
    private final GSlots slots;

    Goroutines(String name, GSlots slots) {
        super(name);
        this.slots = slots;
    }

    @Override
    protected Collection<Stack> stacks() {
        List<Stack> all = new ArrayList<>();
        slots.forEach(gp -> {
            if (GStack.of((Scheduler) GSlots.owner(gp), gp) instanceof GStack st && st.isPooled()) {
                all.add(st);
            }
        });
        return all;
    }

    @Override
    protected @Nullable String label(Stack st) {
        long gp = ((GStack) st).gp();
        if (gp == 0 || GSlots.stack(gp) != st) {
            return null;
        }
        return Traceback.label((Scheduler) GSlots.owner(gp), gp, (GStack) st, GStatus.readgstatus(gp) & ~GStatus.GSCAN);
    }
}
