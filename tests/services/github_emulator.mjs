// The stateful GitHub of npm's `emulate`. Told by arguments: its module, the seed, and the URL that its answers name.
// It says one line of JSON when it is up (port, and the app's private key), takes "reset" line by line, and ends with
// its standard input.
import { createInterface } from "node:readline";
import { createServer } from "node:net";

const [module, seed, baseUrl] = process.argv.slice(2);
const { createEmulator } = await import(module);

const free = () =>
  new Promise((done) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });

const port = await free();
const emulator = await createEmulator({ service: "github", port, seed: JSON.parse(seed), baseUrl });
const key = emulator.generatedSecrets.find((secret) => secret.kind === "github.app_private_key");
console.log(JSON.stringify({ port, key: key?.value ?? null }));

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "reset") emulator.reset();
  console.log("{}");
}
await emulator.close();
