// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

import org.jspecify.annotations.Nullable;

/**
 * Decides by the origin of a class whether it may get points.
 *
 * <p>A class is <em>another agent's own</em>, and gets no points, like a class of the JDK, if
 * <ul>
 * <li>its jar's manifest names an agent's class, and the JVM has started that agent: its class is loaded, or is the class in question.
 * (Many jars that may be agents are used as libraries; these are treated like other jars.)
 * <li>or the class of its loader is another agent's own,
 * <li>or the class of its loader was put on the boot class path, which only agents do. Such a loader reads the agent's other classes from
 * folders inside the agent's jar.
 * </ul>
 * Rejected: a list of known agents, which is never complete, and the {@code -javaagent} options of the JVM, which do not name attached
 * agents.
 */
final class Origin {
    private static final String JAR = ".jar";
    private static final String[] AGENT = {"Premain-Class", "Agent-Class"};
    /** The classes through which a point is linked, which the class with the point has to see. */
    private static final String[] OF_POINTS = {JdkPoint.CLASS.replace('/', '.'), "java.lang.invoke.MethodHandles$Lookup",
        "java.lang.invoke.MethodType", "java.lang.invoke.CallSite"};

    /** The agents that the manifest of a jar names, by the protection domain of the jar's classes. */
    private static final Map<ProtectionDomain, List<String>> AGENTS = Collections.synchronizedMap(new WeakHashMap<>());
    private static final Map<ClassLoader, Boolean> SEES = Collections.synchronizedMap(new WeakHashMap<>());

    private Origin() {
    }

    /** Returns whether the class is another agent's own. {@code name} has slashes. */
    static boolean isAgents(@Nullable ClassLoader loader, @Nullable ProtectionDomain domain, String name) {
        return domain != null && isOfStarted(domain, name) || loader != null && isAgents(loader);
    }

    private static boolean isAgents(ClassLoader loader) {
        Class<?> c = loader.getClass();
        ClassLoader its = c.getClassLoader();
        return its == null ? !c.getModule().isNamed() : isAgents(its, c.getProtectionDomain(), c.getName().replace('.', '/'));
    }

    private static boolean isOfStarted(ProtectionDomain domain, String name) {
        List<String> agents = AGENTS.get(domain);
        if (agents == null) {
            agents = named(domain.getCodeSource());
            List<String> _ = AGENTS.put(domain, agents);
        }
        for (String agent : agents) {
            if (agent.equals(name.replace('/', '.')) || JdkAccess.isLoaded(agent)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the agents, except gmp4j's own, that the manifest in a code source's jar names. */
    private static List<String> named(@Nullable CodeSource source) {
        List<String> agents = new ArrayList<>();
        if (source != null && source.getLocation() != null && source.getLocation().getPath().endsWith(JAR)
                && "file".equals(source.getLocation().getProtocol())) {
            try (JarFile jar = new JarFile(new File(URI.create(source.getLocation().toString())), false)) {
                Manifest manifest = jar.getManifest();
                Attributes main = manifest == null ? new Attributes() : manifest.getMainAttributes();
                for (String attribute : AGENT) {
                    String agent = main.getValue(attribute);
                    if (agent != null && !agent.strip().equals(Agent.class.getName())) {
                        agents.add(agent.strip());
                    }
                }
            } catch (IOException | IllegalArgumentException e) {
                return List.of(); // The jar cannot be read as a file.
            }
        }
        return agents;
    }

    /**
     * Returns whether classes of a loader see the classes through which a point is linked. A loader that shows only certain names, for
     * instance in a sandbox, may hide them. Then the first point would end with an error. This method calls each loader once, for classes
     * that the loader would have to load at the first point anyway.
     */
    static boolean sees(@Nullable ClassLoader loader) {
        if (loader == null || loader == ClassLoader.getSystemClassLoader()) {
            return true;
        }
        Boolean sees = SEES.get(loader);
        if (sees == null) {
            sees = findsAll(loader);
            Boolean _ = SEES.put(loader, sees);
        }
        return sees;
    }

    private static boolean findsAll(ClassLoader loader) {
        try {
            for (String name : OF_POINTS) {
                if (loader.loadClass(name).getClassLoader() != null) {
                    return false; // The loader has another class of that name.
                }
            }
            return true;
        } catch (ClassNotFoundException | LinkageError | RuntimeException e) {
            return false;
        }
    }
}
