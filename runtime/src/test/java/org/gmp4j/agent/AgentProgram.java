// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.Opcode;
import java.lang.classfile.attribute.ModuleAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.constant.ModuleDesc;
import java.lang.constant.PackageDesc;
import java.lang.instrument.UnmodifiableClassException;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** The program that {@link AgentJvmTest} starts with the agent; its arguments name what it tries. */
public final class AgentProgram {
    private static final String SPIN = "iso.Spin";
    private static final int PUBLIC_STATIC = ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC;
    private static volatile boolean go = true;

    private AgentProgram() {
    }

    /** Thrown by the hook. */
    private static final class Stop extends Error {
        private static final long serialVersionUID = 1;
    }

    public static void main(String[] args) throws Exception {
        for (String what : args) {
            switch (what) {
                case "bootstrap" -> stop(isolated(null));
                case "platform" -> stop(isolated(ClassLoader.getPlatformClassLoader()));
                case "childFirst" -> stop(isolated(new ChildFirst()));
                case "osgi" -> stop(isolated(new OnlyJava()));
                case "module" -> stop(module());
                case "nameless" -> stop(new Defining().define(null, spin(SPIN)).getMethod("spin"));
                case "javax" -> stop(new Defining().define("javax.iso.Spin", spin("javax.iso.Spin")).getMethod("spin"));
                case "white" -> white();
                case "agents" -> agents();
                case "retransformed" -> retransformed();
                case "own" -> stop(AgentProgram.class.getDeclaredMethod("spin"));
                case "regex" -> stop(AgentProgram.class.getDeclaredMethod("regex"));
                case "overflow" -> overflow();
                case "proxy" -> proxy();
                case "counters" -> System.out.println(Points.counters());
                case "wait" -> {
                    System.out.println("waiting");
                    System.in.read();
                }
                default -> throw new IllegalArgumentException(what);
            }
            System.out.println(what + " ok");
        }
    }

    static void spin() {
        while (go) {
        }
    }

    static void regex() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 60; i++) {
            text.append(i).append(',');
        }
        Pattern.compile("(.*?,){20}P").matcher(text).find();
    }

    /** Runs it on a thread until it spins, and makes the hook stop it. */
    private static void stop(Method spin) throws InterruptedException {
        spin.setAccessible(true);
        boolean[] stopped = {false};
        Thread thread = Thread.ofPlatform().daemon().unstarted(() -> {
            try {
                spin.invoke(null);
            } catch (InvocationTargetException e) {
                stopped[0] = e.getCause() instanceof Stop;
                if (!stopped[0]) {
                    e.getCause().printStackTrace();
                }
            } catch (IllegalAccessException e) {
                e.printStackTrace();
            }
        });
        Points.setHook(() -> {
            if (Thread.currentThread() == thread) {
                throw new Stop();
            }
        });
        thread.start();
        Thread.sleep(300);
        Points.setWanted(true);
        for (int i = 0; thread.isAlive() && i < 2_000; i++) {
            Points.nudge();
            if (i > 500) {
                Points.arm(thread.getStackTrace(), i / 100);
            }
            thread.join(5);
        }
        Points.setWanted(false);
        if (!stopped[0]) {
            System.out.println("not stopped: " + List.of(thread.getStackTrace()) + " " + Points.counters());
            System.exit(1);
        }
    }

    /** A folder with a module of one class that spins. */
    static Path spinner() throws IOException {
        Path folder = Files.createTempDirectory("spin");
        folder.toFile().deleteOnExit();
        Files.createDirectories(folder.resolve("iso"));
        Files.write(folder.resolve("iso/Spin.class"), spin(SPIN));
        Files.write(folder.resolve("module-info.class"), ClassFile.of().buildModule(ModuleAttribute.of(ModuleDesc.of("iso"),
                m -> m.requires(ModuleDesc.of("java.base"), ClassFile.ACC_MANDATED, null)
                        .opens(PackageDesc.of("iso"), 0))));
        return folder;
    }

    private static byte[] spin(String name) {
        return ClassFile.of().build(ClassDesc.of(name), c -> {
            c.withFlags(ClassFile.ACC_PUBLIC | ClassFile.ACC_SUPER);
            c.withMethodBody("spin", ConstantDescs.MTD_void, PUBLIC_STATIC, b -> {
                Label header = b.newBoundLabel();
                b.iconst_1().ifThen(Opcode.IFEQ, t -> t.return_()).goto_(header);
            });
        });
    }

    /** A class with a loop that ends, and with a method that the JVM calls of an agent. */
    static byte[] looper(String name) {
        return ClassFile.of().build(ClassDesc.of(name), c -> {
            c.withFlags(ClassFile.ACC_PUBLIC | ClassFile.ACC_SUPER);
            c.withMethodBody("premain", MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String), PUBLIC_STATIC,
                    CodeBuilder::return_);
            c.withMethodBody("loop", MethodTypeDesc.of(ConstantDescs.CD_int), PUBLIC_STATIC, b -> {
                b.iconst_0().istore(0);
                Label header = b.newBoundLabel();
                b.iinc(0, 1).iload(0).bipush(10).if_icmplt(header).iload(0).ireturn();
            });
        });
    }

    /** A class loader whose parent is that of the JVM. */
    static byte[] loader(String name) {
        ClassDesc parent = ClassDesc.of("java.net.URLClassLoader");
        ClassDesc urls = ClassDesc.of("java.net.URL").arrayType();
        return ClassFile.of().build(ClassDesc.of(name), c -> {
            c.withFlags(ClassFile.ACC_PUBLIC | ClassFile.ACC_SUPER).withSuperclass(parent);
            c.withMethodBody("<init>", MethodTypeDesc.of(ConstantDescs.CD_void, urls), ClassFile.ACC_PUBLIC,
                    b -> b.aload(0).aload(1).aconst_null().invokespecial(parent, "<init>",
                            MethodTypeDesc.of(ConstantDescs.CD_void, urls, ClassDesc.of("java.lang.ClassLoader"))).return_());
        });
    }

    /** It cannot see what points link through, so its classes have none. */
    private static void white() throws ReflectiveOperationException {
        loops(new White().define("iso.Looper", looper("iso.Looper")), false);
    }

    /** Another agent's classes have none, those of a jar that could be an agent and is not have some. */
    private static void agents() throws Exception {
        loops(Class.forName("foreign.Helper"), false);
        Class<?> loader = Class.forName("foreign.Loader");
        Path folder = Files.createTempDirectory("agent");
        folder.toFile().deleteOnExit();
        Files.createDirectories(folder.resolve("isolated"));
        Files.write(folder.resolve("isolated/Advice.class"), looper("isolated.Advice"));
        Object urls = new URL[] {folder.toUri().toURL()};
        loops(((ClassLoader) loader.getConstructor(URL[].class).newInstance(urls)).loadClass("isolated.Advice"), false);
        loops(Class.forName("library.Helper"), true);
    }

    private static final class Changed {
        static int loops(int n) {
            int s = 0;
            for (int i = 0; i < n; i++) {
                s += i;
            }
            while (s > 100) {
                s -= 7;
            }
            return s;
        }
    }

    /** Each change links the points anew, and those before go. */
    private static void retransformed() throws UnmodifiableClassException {
        int most = 0;
        int sites = 0;
        long end = System.nanoTime() + 30_000_000_000L;
        for (int i = 0; i < 20 || sites > most / 2 && System.nanoTime() < end; i++) {
            ForeignAgent.instrumentation.retransformClasses(Changed.class);
            int _ = Changed.loops(10);
            if (i >= 20) {
                System.gc();
            }
            sites = ClassSites.sites(Changed.class);
            most = Math.max(most, sites);
        }
        if (most < 2 || sites > most / 2) {
            throw new IllegalStateException(sites + " of " + most);
        }
    }

    private static void loops(Class<?> c, boolean points) throws ReflectiveOperationException {
        Object n = c.getMethod("loop").invoke(null);
        if (!n.equals(10) || points != ClassSites.BY_NAME.containsKey(c.getName())) {
            throw new IllegalStateException(c + " " + n + " " + Points.counters());
        }
    }

    private static Method isolated(ClassLoader parent) throws IOException, ReflectiveOperationException {
        URL[] urls = {spinner().toUri().toURL()};
        @SuppressWarnings("resource") // as long as its class
        ClassLoader loader = parent instanceof ChildFirst ? new ChildFirst(urls) : new URLClassLoader(urls, parent);
        return loader.loadClass(SPIN).getMethod("spin");
    }

    private static Method module() throws IOException, ReflectiveOperationException {
        Configuration configuration = ModuleLayer.boot().configuration().resolve(ModuleFinder.of(spinner()),
                ModuleFinder.of(), Set.of("iso"));
        ModuleLayer layer = ModuleLayer.boot().defineModulesWithOneLoader(configuration, null);
        Class<?> spin = layer.findLoader("iso").loadClass(SPIN);
        if (!spin.getModule().isNamed()) {
            throw new IllegalStateException();
        }
        return spin.getMethod("spin");
    }

    /** The first point of all is linked where the stack is nearly full. */
    private static void overflow() throws InterruptedException {
        Throwable[] problem = {null};
        int[] failed = {0};
        Thread thread = new Thread(null, () -> {
            try {
                down(failed);
            } catch (Throwable e) {
                problem[0] = e;
            }
        }, "overflow", 512 * 1024);
        thread.start();
        thread.join();
        if (problem[0] != null || failed[0] == 0 || loop(10) != 45) {
            throw new IllegalStateException(failed[0] + " times", problem[0]);
        }
    }

    private static boolean down(int[] failed) {
        try {
            if (down2(failed)) {
                return true;
            }
        } catch (StackOverflowError e) {
            failed[0]++;
        }
        try {
            if (loop(10) != 45) {
                throw new IllegalStateException();
            }
            return true;
        } catch (StackOverflowError e) {
            failed[0]++;
            return false; // a frame further out there is more room
        }
    }

    /** So that {@link #down} does not call itself: it has no point of its own. */
    private static boolean down2(int[] failed) {
        return down(failed);
    }

    private static int loop(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            s += i;
        }
        return s;
    }

    private static void proxy() {
        Runnable[] ran = new Runnable[1];
        Runnable r = (Runnable) Proxy.newProxyInstance(AgentProgram.class.getClassLoader(), new Class<?>[] {Runnable.class},
                (self, _, _) -> {
                    ran[0] = (Runnable) self;
                    return null;
                });
        r.run();
        if (ran[0] != r) {
            throw new IllegalStateException();
        }
    }

    /** A web application's loader. */
    private static final class ChildFirst extends URLClassLoader {
        ChildFirst(URL... urls) {
            super(urls, AgentProgram.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> c = findLoadedClass(name);
                if (c == null && !name.startsWith("java.")) {
                    try {
                        return findClass(name);
                    } catch (ClassNotFoundException e) {
                        c = null;
                    }
                }
                return c != null ? c : super.loadClass(name, resolve);
            }
        }
    }

    private static class Defining extends ClassLoader {
        Class<?> define(String name, byte[] b) {
            return defineClass(name, b, 0, b.length);
        }
    }

    /** A sandbox that lets its classes see what is harmless. */
    private static final class White extends Defining {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("java.lang.Object") && !name.equals("java.lang.String")) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }
    }

    /** What an OSGi framework shows a bundle that imports nothing: the packages {@code java.*}. */
    private static final class OnlyJava extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("java.")) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }
    }
}
