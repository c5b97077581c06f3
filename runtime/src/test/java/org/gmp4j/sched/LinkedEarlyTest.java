// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.gmp4j.sched.base.Scheduler;
import org.junit.jupiter.api.Test;

/**
 * Ms and sysmon link no lambda: the first of a JVM initialises classes of the JDK, and where the heap is full just then those can never be
 * used again, so that a scheduler could not go on. Nor does what users call again and again: a lambda that there was no memory to link
 * fails at that place for ever.
 */
class LinkedEarlyTest {
    /** Floors that are below goroutines, or watch them; and what users call. */
    private static final List<String> PACKAGES = List.of("sysmon", "policy", "sched/base", "sched", "sched/jdk", "sched/upkeep",
            "sched/life", "boot", "queue", "lock", "struct", "timer", "wait", "netpoll", "stack", "report", "print", "config", "sync",
            "time", "context", "chan", "flow", "management", "");
    private static final Set<String> ELSEWHERE = Set.of(
            // As a scheduler is made, or the network first used; or on the JDK's threads.
            "sched/jdk/DefaultPool.<init>", "stack/JdkPollers$Change.<init>", "stack/JdkPollers$Change.inFront",
            "DefaultGmp.apply", "DefaultGmp.debug", "config/CpuAssignment.dealt", "Settings.startServed", "management/Diagnosis.check",
            // A program of its own.
            "Hello.main", "Hello.goroutines",
            // For a user, which is told; nothing has happened then.
            "Chans.merge", "Chans.broadcast", "Chans.lambda$merge$0", "Chans.lambda$broadcast$0",
            "management/Adjustments.<clinit>", "management/Adjustments.apply", "management/Adjustments$Setting$1.change",
            "management/Adjustments$Setting$2.change",
            "flow/ChanPublisher.subscribe", "sched/base/CleanStart.startTemplate",
            "report/Traceback.all", "report/Traceback.each", "report/Traceback.list", "report/Traceback.numbers", "report/Traceback.states",
            "report/Traceback.lambda$states$0", "sched/Tracing.set", "sched/Tracing.lambda$set$0",
            "report/Goroutines.stacks", "struct/GSlots.forEach", "report/LeakSearch.once", "report/LeakSearch.load",
            "report/Sampler.<init>", "report/WaitSampler.look",
            "report/StackSearch.goroutines", "stack/JdkContainer.threads", "report/SchedTrace.detail",
            // At the end.
            "sched/life/Exiters.onlyTheyAreLeft", "report/Fatal.guard", "report/Fatal.print", "report/Fatal.stacks", "report/Fatal.save");

    @Test
    void noLambdas() throws IOException {
        Path root = Path.of(Scheduler.class.getProtectionDomain().getCodeSource().getLocation().getPath(), "org", "gmp4j");
        Set<String> found = new TreeSet<>();
        for (String name : PACKAGES) {
            try (Stream<Path> files = Files.list(root.resolve(name))) {
                for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                    add(ClassFile.of().parse(file), found);
                }
            }
        }
        assertEquals(new TreeSet<>(ELSEWHERE), found);
    }

    /** What the programs that fill the heap do again and again. Their lambdas are made before, while there is memory. */
    @Test
    void theProgramsLinkNone() throws IOException {
        Path root = Path.of(LinkedEarlyTest.class.getProtectionDomain().getCodeSource().getLocation().getPath(), "org", "gmp4j");
        Set<String> found = new TreeSet<>();
        for (String name : List.of("sched/FullHeapProgram", "sched/FullHeapMore")) {
            add(ClassFile.of().parse(root.resolve(name + ".class")), found);
        }
        found.removeIf(method -> !method.contains(".lambda$"));
        assertEquals(Set.of(), found);
    }

    private static void add(ClassModel c, Set<String> found) {
        String of = c.thisClass().asInternalName().substring("org/gmp4j/".length());
        for (MethodModel m : c.methods()) {
            m.code().ifPresent(code -> code.forEach(e -> {
                if (e instanceof InvokeDynamicInstruction i && !i.bootstrapMethod().owner().displayName().equals("ObjectMethods")) {
                    boolean _ = found.add(of + "." + m.methodName().stringValue());
                }
            }));
        }
    }
}
