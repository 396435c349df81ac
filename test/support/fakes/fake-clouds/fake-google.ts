import { type KeyObject, randomUUID, verify } from 'node:crypto';
import { linesOf } from './fake-aws.ts';
import type { Cloud, CloudReply, LooseObject } from './fake-clouds.ts';

/**
 * Cloud Storage and Vertex AI's batches of one project, for bearers of a token issued in exchange for a service account's
 * signature.
 */
export interface FakeGoogle {
  readonly clouds: Readonly<Record<string, Cloud>>;
  /** Objects by `bucket/name`. */
  readonly objects: Map<string, Buffer>;
  /** Completes a job: writes its output from its input lines. */
  runJobs(reply: (request: LooseObject) => LooseObject): void;
}

const createdAt = '2026-01-01T00:00:00Z';

export function fakeGoogle(region: string, account: string, publicKey: KeyObject): FakeGoogle {
  const objects = new Map<string, Buffer>();
  const tokens = new Set<string>();
  const jobs = new Map<string, LooseObject>();

  const tokenService: Cloud = ({ body }) => {
    const assertion = new URLSearchParams(body.toString()).get('assertion') ?? '';
    const [head = '', claims = '', signature = ''] = assertion.split('.');
    const good = verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'));
    const said = JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}');
    const isFor = said.iss === account && said.aud === 'https://oauth2.googleapis.com/token' && said.exp > Date.now() / 1000;
    if (!good || !isFor) return { status: 400, body: { error: 'invalid_grant' } };
    const token = `ya29.${randomUUID()}`;
    tokens.add(token);
    return { status: 200, body: { access_token: token, expires_in: 3599, token_type: 'Bearer' } };
  };

  const known =
    (cloud: Cloud): Cloud =>
    (request) => {
      const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
      return tokens.has(token) ? cloud(request) : { status: 401, body: { error: { code: 401, message: 'no such token' } } };
    };

  const storage: Cloud = ({ method, path, query, body }) => {
    const asked = new URLSearchParams(query);
    const [, upload, bucket = '', name] = /^(\/upload)?\/storage\/v1\/b\/([^/]+)\/o(?:\/([^/]+))?$/.exec(path) ?? [];
    if (upload && method === 'POST') {
      const location = `${bucket}/${asked.get('name')}`;
      objects.set(location, body);
      return described(location);
    }
    if (name === undefined) {
      const prefix = `${bucket}/${asked.get('prefix') ?? ''}`;
      const found = [...objects.keys()].filter((location) => location.startsWith(prefix)).sort();
      return { status: 200, body: { items: found.map((location) => described(location).body) } };
    }
    const location = `${bucket}/${decodeURIComponent(name)}`;
    return asked.get('alt') === 'media' && objects.has(location)
      ? { status: 200, body: objects.get(location) as Buffer }
      : described(location);
  };

  function described(location: string): CloudReply {
    const object = objects.get(location);
    const [bucket, ...rest] = location.split('/');
    if (!object) return { status: 404, body: { error: { code: 404, message: `No such object: ${location}` } } };
    return { status: 200, body: { bucket, name: rest.join('/'), size: String(object.length), timeCreated: createdAt } };
  }

  const vertex: Cloud = ({ method, path, body }) => {
    const [, parent = '', id] = /^\/v1\/(projects\/[^/]+\/locations\/[^/]+\/batchPredictionJobs)(?:\/(\d+))?$/.exec(path) ?? [];
    if (method === 'POST') {
      const number = String(4000 + jobs.size);
      const made = {
        ...JSON.parse(body.toString()),
        name: `${parent}/${number}`,
        state: 'JOB_STATE_PENDING',
        createTime: createdAt,
      };
      jobs.set(number, made);
      return { status: 200, body: made };
    }
    const job = jobs.get(id ?? '');
    return job ? { status: 200, body: job } : { status: 404, body: { error: { code: 404, message: 'no such job' } } };
  };

  return {
    clouds: {
      'oauth2.googleapis.com': tokenService,
      'storage.googleapis.com': known(storage),
      [`${region}-aiplatform.googleapis.com`]: known(vertex),
    },
    objects,
    runJobs(reply) {
      for (const job of jobs.values()) {
        const input = job.inputConfig.gcsSource.uris[0].slice('gs://'.length);
        const directory = `${job.outputConfig.gcsDestination.outputUriPrefix}prediction-model-1`;
        const lines = linesOf(objects.get(input)).map((line) => ({ ...line, status: '', response: reply(line.request) }));
        const location = `${directory.slice('gs://'.length)}/predictions.jsonl`;
        objects.set(location, Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
        Object.assign(job, {
          state: 'JOB_STATE_SUCCEEDED',
          endTime: '2026-01-01T01:00:00Z',
          outputInfo: { gcsOutputDirectory: directory },
        });
        Object.assign(job, { completionStats: { successfulCount: String(lines.length) } });
      }
    },
  };
}
