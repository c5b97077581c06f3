// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The fields of {@code struct g} in gmp.h, which describes each field and names its writer. Each access names its mode; {@code get} and
 * {@code set} are plain. The fields that are accessed plainly belong to the G's owner: the M that runs the G, or the thread that moves it
 * from one queue to another. The CAS on the status passes ownership on.
 */
public final class G {
    public static final IntField INDEX = Struct.G.intField("index");
    public static final LongField M = Struct.G.longField("m");
    public static final LongField SCHEDLINK = Struct.G.longField("schedlink");
    public static final LongField GOID = Struct.G.longField("goid");
    public static final IntField PREEMPT = Struct.G.intField("preempt");
    public static final IntField WAITREASON = Struct.G.intField("waitreason");
    public static final IntField SELECTDONE = Struct.G.intField("selectDone");
    public static final LongField WAITSINCE = Struct.G.longField("waitsince");
    public static final LongField PARAM = Struct.G.longField("param");
    public static final LongField LOCKEDM = Struct.G.longField("lockedm");
    public static final LongField PARENTGOID = Struct.G.longField("parentGoid");
    public static final LongField ALLOCSEQ = Struct.G.longField("allocseq");
    public static final IntField HASSTACK = Struct.G.intField("hasstack");
    public static final LongField SLEEPWHEN = Struct.G.longField("sleepWhen");

    private G() {
    }
}
