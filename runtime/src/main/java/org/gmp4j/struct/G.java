// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.g;

/**
 * The fields of {@code struct g} in gmp.h, which describes each field and names its writer. Each access names its mode; {@code get} and
 * {@code set} are plain. The fields that are accessed plainly belong to the G's owner: the M that runs the G, or the thread that moves it
 * from one queue to another. The CAS on the status passes ownership on.
 */
public final class G {
    public static final IntField INDEX = Mem.intField(g.layout(), "index");
    public static final LongField M = Mem.longField(g.layout(), "m");
    public static final LongField SCHEDLINK = Mem.longField(g.layout(), "schedlink");
    public static final LongField GOID = Mem.longField(g.layout(), "goid");
    public static final IntField PREEMPT = Mem.intField(g.layout(), "preempt");
    public static final IntField WAITREASON = Mem.intField(g.layout(), "waitreason");
    public static final IntField SELECTDONE = Mem.intField(g.layout(), "selectDone");
    public static final LongField WAITSINCE = Mem.longField(g.layout(), "waitsince");
    public static final LongField PARAM = Mem.longField(g.layout(), "param");
    public static final LongField LOCKEDM = Mem.longField(g.layout(), "lockedm");
    public static final LongField PARENTGOID = Mem.longField(g.layout(), "parentGoid");
    public static final LongField ALLOCSEQ = Mem.longField(g.layout(), "allocseq");
    public static final IntField HASSTACK = Mem.intField(g.layout(), "hasstack");
    public static final LongField SLEEPWHEN = Mem.longField(g.layout(), "sleepWhen");

    private G() {
    }
}
