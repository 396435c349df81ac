import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../services/service.ts';
import type { Instance } from './instances.ts';

export interface ChaosOptions {
  /** The same seed repeats the order of kills. */
  readonly seed: number;
  readonly nats: Service | null;
  readonly postgres: Service | null;
  readonly instances: readonly Instance[];
}

/**
 * Kills NATS, PostgreSQL and gateway processes, one at a time, until stopped. `stop` leaves everything running and returns the
 * number of kills.
 */
export function causeChaos({ seed, nats, postgres, instances }: ChaosOptions): { stop(): Promise<number> } {
  const random = seeded(seed);
  let running = true;
  let kills = 0;
  const loop = run();
  return {
    async stop() {
      running = false;
      await loop;
      return kills;
    },
  };

  async function run(): Promise<void> {
    const services = [nats, postgres].filter((service) => service !== null);
    while (running) {
      await pause(200 + random() * 600);
      const which = Math.floor(random() * (services.length + 2));
      const service = services[which];
      kills++;
      if (service) {
        await service.down();
        await pause(200 + random() * 1200);
        await service.up();
      } else {
        const pid = instances[Math.floor(random() * instances.length)]?.gatewayPid();
        if (pid) process.kill(pid, 'SIGKILL');
      }
    }
  }
}

/** Park and Miller's generator, sufficient to repeat a run. */
function seeded(seed: number): () => number {
  let state = (Math.abs(Math.trunc(seed)) % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
