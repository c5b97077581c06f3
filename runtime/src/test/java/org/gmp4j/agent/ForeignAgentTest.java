// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Beside an agent that rewrites our classes, our executors, and the JDK's switch of threads. Each in a JVM of its own. */
class ForeignAgentTest {
    @TempDir
    static Path folder;

    @BeforeAll
    static void pack() throws IOException {
        jar("ours.jar", Agent.class);
        jar("foreign.jar", ForeignAgent.class);
    }

    /** The classes are on the class path. */
    private static void jar(String name, Class<?> agent) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", agent.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        new JarOutputStream(Files.newOutputStream(folder.resolve(name)), manifest).close();
    }

    private static void prints(String out, ChildJvm jvm, String... what) {
        Result r = jvm.run(what);
        assertEquals(out, r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    private static String agent(String name) {
        return "-javaagent:" + folder.resolve(name);
    }

    @Test
    void whichComesFirst() {
        prints("threads 20 0\nwrapped true true\nmounts 20 true 0\nlibrary 42\n", new ChildJvm(ForeignProgram.class).withoutFlags()
                .with("--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED", agent("foreign.jar"),
                        agent("ours.jar") + "=default"), "threads", "wrapped", "mounts", "library");
    }

    @Test
    void asALibrary() {
        prints("library 42\n", new ChildJvm(ForeignProgram.class).with(agent("foreign.jar")), "library");
    }
}
