import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { replyWith } from '../../../../../core/test-kit/pipeline-harness.ts';
import { control, idOf, jsonl, objects, open, plain, role, textOf } from '../open-bedrock.ts';

describe('a Bedrock fine-tuning job', () => {
  const tuningArn = 'arn:aws:bedrock:eu-central-1:123456789012:model-customization-job/amazon.nova-lite-v1:0:300k/abc123def456';
  const job = (status: string): JsonObject => ({
    jobArn: tuningArn,
    jobName: 'svc-mine-1',
    status,
    creationTime: '2026-01-01T00:00:00Z',
    endTime: '2026-01-01T01:00:00Z',
    baseModelArn: 'arn:aws:bedrock:eu-central-1::foundation-model/amazon.nova-lite-v1:0:300k',
    outputModelArn: 'arn:aws:bedrock:eu-central-1:123456789012:custom-model/amazon.nova-lite-v1:0:300k/xyz',
    hyperParameters: { epochCount: '2' },
    trainingDataConfig: { s3Uri: 's3://my-bucket/svc-fine-tuning/1/training.jsonl' },
  });

  it('has its conversations in the format of the service', async () => {
    const { harness, client } = open();
    const example = {
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
      ],
    };
    harness.script(
      plain(200, jsonl(example, { prompt: 'p', completion: 'c' })),
      plain(200),
      replyWith(201, { jobArn: tuningArn }),
      replyWith(200, job('InProgress')),
    );
    const made = await client.fineTuning.jobs.create({
      model: 'amazon.nova-lite-v1:0:300k',
      training_file: idOf('svc-files/fine-tune/1/t.jsonl'),
      suffix: 'mine',
      hyperparameters: { n_epochs: 2, batch_size: 'auto' },
      provider_options: { role_arn: role, hyperParameters: { learningRate: '0.0001' } },
    } as never);
    expect(objects(textOf(harness.calls[1]))).toEqual([
      {
        schemaVersion: 'bedrock-conversation-2024',
        system: [{ text: 'Be kind.' }],
        messages: [
          { role: 'user', content: [{ text: 'Hi' }] },
          { role: 'assistant', content: [{ text: 'Hello' }] },
        ],
      },
      { prompt: 'p', completion: 'c' },
    ]);
    expect(harness.calls[2]).toMatchObject({ method: 'POST', origin: control, path: '/model-customization-jobs' });
    expect(JSON.parse(textOf(harness.calls[2]))).toMatchObject({
      baseModelIdentifier: 'amazon.nova-lite-v1:0:300k',
      customizationType: 'FINE_TUNING',
      roleArn: role,
      customModelName: expect.stringMatching(/^svc-mine-/),
      trainingDataConfig: { s3Uri: `s3:/${harness.calls[1]?.path}` },
      hyperParameters: { epochCount: '2', learningRate: '0.0001' },
    });
    expect(made).toMatchObject({ object: 'fine_tuning.job', status: 'running', hyperparameters: { n_epochs: 2 } });
  });

  it('can be read, listed and stopped', async () => {
    const { harness, client } = open();
    const id = encodeURIComponent(tuningArn);
    harness.script(replyWith(200, job('Completed')));
    expect(await client.fineTuning.jobs.retrieve(id)).toMatchObject({
      id,
      status: 'succeeded',
      finished_at: 1767229200,
      fine_tuned_model: expect.stringContaining(':custom-model/'),
      model: 'amazon.nova-lite-v1:0:300k',
    });
    expect(harness.calls[0]?.path).toBe(`/model-customization-jobs/${id}`);
    harness.script(replyWith(200, { modelCustomizationJobSummaries: [job('Failed')] }));
    expect((await client.fineTuning.jobs.list()).data).toMatchObject([{ status: 'failed' }]);
    harness.script(replyWith(200, {}), replyWith(200, job('Stopped')));
    expect((await client.fineTuning.jobs.cancel(id)).status).toBe('cancelled');
    expect(harness.calls.at(-2)?.path).toBe(`/model-customization-jobs/${id}/stop`);
  });
});
