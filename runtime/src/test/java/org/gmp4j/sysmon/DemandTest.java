// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import org.gmp4j.agent.Agent;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Points on demand, by {@link DemandProgram} with the agent. */
class DemandTest {
    @TempDir
    static Path folder;

    private static String agent(Class<?> of) throws IOException {
        return "-javaagent:" + jar(of);
    }

    private static Path jar(Class<?> of) throws IOException {
        Path jar = folder.resolve(of.getSimpleName() + ".jar");
        if (!Files.exists(jar)) { // Of a manifest alone: the classes are on the class path.
            Manifest manifest = new Manifest();
            manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
            manifest.getMainAttributes().putValue("Premain-Class", of.getName());
            manifest.getMainAttributes().putValue("Agent-Class", of.getName());
            manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
            new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        }
        return jar;
    }

    private static void runs(ChildJvm jvm, String... what) {
        Result r = jvm.run(what);
        assertEquals(0, r.exit(), r::toString);
        assertEquals(String.join(" ok\n", what) + " ok\n", r.out(), r::toString);
    }

    /** No more than a burst of pauses in a JVM, or they would wait for each other. */
    private static ChildJvm demand() throws IOException {
        return new ChildJvm(DemandProgram.class).with(agent(Agent.class) + "=points=demand", "-Xmx64m");
    }

    @Test
    void theClassThatOverranWhenNoStackHoldsIt() throws IOException {
        runs(demand(), "again", "heldByTheHog", "heldByAParkedGoroutine", "heldByAThread");
    }

    @Test
    void aCallThatLastsMayStayWhereItComputesNothing() throws IOException {
        runs(demand(), "anotherMethodWaits");
        runs(demand(), "anotherMethodIsIdle", "hotCallDuringTheProfile", "calleeDuringTheProfile");
        runs(demand().with("-XX:+UseG1GC"), "anotherMethodComputes", "anotherCalleeComputes"); // Its counted loops have safepoint polls.
    }

    @Test
    void loopsWithoutSafepointPolls() throws IOException {
        runs(demand().with("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4", "-XX:-TieredCompilation", "-XX:CompileCommand=quiet",
                "-XX:CompileCommand=dontinline,org.gmp4j.sysmon.DemandLoops$Counted::sum"), "loopWithoutPolls");
    }

    @Tag("long")
    @Test
    void preparedSomeSecondsAfterTheStart() throws IOException {
        runs(demand(), "prepared");
    }

    @Test
    void classesOfAllKinds() throws IOException {
        runs(demand(), "kinds", "madeAtRunTime", "loaderGone", "fullHeap");
    }

    @Test
    void anotherAgentAfterOurs() throws IOException {
        runs(demand().with(agent(OtherAgent.class)), "otherAgent");
    }

    @Test
    void anotherAgentBeforeOurs() throws IOException {
        runs(new ChildJvm(DemandProgram.class).with(agent(OtherAgent.class), agent(Agent.class) + "=points=demand"), "otherAgent");
    }

    @Test
    void attachedToARunningScheduler() throws IOException {
        runs(new ChildJvm(DemandProgram.class).with("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading",
                "-D" + DemandProgram.AGENT + "=" + jar(Agent.class)), "attached");
    }

    @Test
    void aThreadThatHasNoCpuGivesNoFurtherSample() throws InterruptedException {
        int[] tid = {0};
        Thread t = Thread.ofPlatform().daemon().start(() -> {
            tid[0] = OsThread.gettid();
            LockSupport.park(); // As long as no one unparks it.
            while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
        });
        while (t.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        assertFalse(Demand.ranOn(tid[0]));
        LockSupport.unpark(t);
        boolean ran = false;
        for (int i = 0; !ran && i < 1_000; i++) { // On a busy machine it may have no CPU for a while.
            ran = Demand.ranOn(tid[0]);
        }
        assertTrue(ran);
        t.interrupt();
        t.join();
        assertFalse(Demand.ranOn(tid[0]), "it has ended");
    }
}
