import { describe, expect, it } from 'vitest';
import { supervisedHyperparameters, trainingLines } from '../../../../core/formats/stored/training.ts';
import { callOf } from '../../providers/contract-suite.ts';

async function written(text: string): Promise<string[]> {
  const file = (async function* () {
    yield Buffer.from(text);
  })();
  const call = callOf({ model: '@aws/nova' }, {}, {});
  const lines: string[] = [];
  for await (const line of trainingLines(file, 'training_file', call, ({ params }) => ({ made: params }))) {
    lines.push(Buffer.from(line).toString());
  }
  return lines;
}

describe('lines of a training file', () => {
  it('are rewritten if they have OpenAI’s form, with the model of the job', async () => {
    expect(await written('{"messages":[]}\n\n{"prompt":"p"}\n{"schemaVersion":"s","messages":[]}')).toEqual([
      '{"made":{"model":"nova","messages":[]}}\n',
      '{"prompt":"p"}\n',
      '{"schemaVersion":"s","messages":[]}\n',
    ]);
  });

  it.each([
    ['\n \n', 'training_file'],
    ['{"messages":[]}\nno json', 'training_file line 2'],
  ])('are rejected without training data: %j', async (text, param) => {
    await expect(written(text)).rejects.toMatchObject({ code: 'bad_request', param });
  });
});

describe('hyperparameters of a job', () => {
  const hyperparameters = { n_epochs: 3 };

  it.each([
    [{ hyperparameters }, hyperparameters],
    [{ method: { type: 'supervised', supervised: { hyperparameters } }, hyperparameters: { n_epochs: 1 } }, hyperparameters],
    [{ method: { type: 'supervised' }, hyperparameters }, hyperparameters],
    [{ method: null }, {}],
    [{ hyperparameters: 'auto' }, {}],
  ])('follow the method: %j', (params, expected) => {
    expect(supervisedHyperparameters(params, 'bedrock')).toEqual(expected);
  });

  it('are separate per method', () => {
    expect(() => supervisedHyperparameters({ method: { type: 'dpo' } }, 'bedrock')).toThrow(
      /method\.type: bedrock supports supervised/,
    );
  });
});
