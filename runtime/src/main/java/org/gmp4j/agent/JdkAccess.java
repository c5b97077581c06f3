// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * Calls private methods of {@code java.lang}, after the agent has opened that package. If a method is missing, the agent works without it.
 */
final class JdkAccess {
    private static final String OURS = "org.gmp4j.";
    private static final @Nullable Method FIND_LOADED = method(ClassLoader.class, "findLoadedClass", String.class);

    private JdkAccess() {
    }

    private static @Nullable Method method(Class<?> owner, String name, Class<?>... parameters) {
        try {
            Method m = owner.getDeclaredMethod(name, parameters);
            m.setAccessible(true);
            return m;
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
    }

    /**
     * Enables native access, as the option {@code --enable-native-access} does. The JDK has one setting for all unnamed modules, and so for
     * the whole class path. If the JDK's methods are missing, the JVM warns at the first native call or refuses it.
     */
    static void enableNativeAccess(Module us) {
        try {
            ModuleLayer layer = us.getLayer();
            if (layer == null) {
                Method all = method(Module.class, "addEnableNativeAccessToAllUnnamed"); // From JDK 26 on.
                all = all == null ? method(Module.class, "implAddEnableNativeAccessToAllUnnamed") : all;
                Object _ = all == null ? null : all.invoke(null);
                return;
            }
            Method one = method(Module.class, "implAddEnableNativeAccess");
            for (Module m : layer.modules()) {
                if (one != null && m.getName().startsWith(OURS)) {
                    Object _ = one.invoke(m);
                }
            }
        } catch (ReflectiveOperationException e) {
            return; // These methods throw no exception.
        }
    }

    /** Returns whether the system class loader has loaded a class. That loader also loads the agents that the JVM starts. */
    static boolean isLoaded(String name) {
        try {
            return FIND_LOADED != null && FIND_LOADED.invoke(ClassLoader.getSystemClassLoader(), name) != null;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }
}
