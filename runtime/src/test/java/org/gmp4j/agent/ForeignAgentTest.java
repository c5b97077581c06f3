// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
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
        new JarOutputStream(Files.newOutputStream(folder.resolve(name)), manifest(agent.getName())).close();
    }

    private static Manifest manifest(String agent) {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", agent);
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        return manifest;
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

    @Test
    void aLoaderThatShowsNoPoints() {
        prints("white ok\n", new ChildJvm(AgentProgram.class).withoutFlags().with(agent("ours.jar")), "white");
    }

    /** One that the JVM starts after ours, and a library that could be one. */
    @Test
    void itsClassesHaveNoPoints() throws IOException {
        agentsJar("started.jar", "foreign", AgentProgram.loader("foreign.Loader"));
        agentsJar("library.jar", "library", null);
        Result r = new ChildJvm(AgentProgram.class).withoutFlags().with(agent("ours.jar"), agent("started.jar"), agent("foreign.jar"))
                .runFrom(System.getProperty("java.class.path") + ":" + folder.resolve("library.jar"), "agents", "retransformed");
        assertEquals("agents ok\nretransformed ok\n", r.out(), r::toString);
    }

    /** A jar whose manifest names an agent, with a class beside it. */
    private static void agentsJar(String file, String name, byte[] loader) throws IOException {
        Manifest manifest = manifest(name + ".Start");
        try (OutputStream out = Files.newOutputStream(folder.resolve(file)); JarOutputStream jar = new JarOutputStream(out, manifest)) {
            write(jar, name + "/Start.class", AgentProgram.looper(name + ".Start"));
            write(jar, name + "/Helper.class", AgentProgram.looper(name + ".Helper"));
            if (loader != null) {
                write(jar, name + "/Loader.class", loader);
            }
        }
    }

    private static void write(JarOutputStream jar, String entry, byte[] b) throws IOException {
        jar.putNextEntry(new JarEntry(entry));
        jar.write(b);
    }
}
