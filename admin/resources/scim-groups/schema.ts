import * as v from 'valibot';
import { noControlCharacters } from '../../http/request/schemas.ts';

/** Maximum number of members of one request. */
const membersMax = 20_000;

export const displayName = v.pipe(
  v.string('required'),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(255, 'at most 255 characters'),
  noControlCharacters,
);

export const externalId = v.nullish(
  v.pipe(v.string(), v.trim(), v.maxLength(255, 'at most 255 characters'), noControlCharacters),
);

/** Members as objects with `value`, or as ids. */
export const memberList = v.pipe(
  v.array(
    v.union(
      [
        v.pipe(v.string(), v.maxLength(255, 'at most 255 characters')),
        v.pipe(
          v.looseObject({ value: v.pipe(v.string(), v.maxLength(255, 'at most 255 characters')) }),
          v.transform((one) => one.value),
        ),
      ],
      'an object with value is expected',
    ),
  ),
  v.maxLength(membersMax, 'at most 20,000 members in one request'),
);

/** A group; unknown attributes are ignored. */
export const groupBody = v.pipe(
  v.looseObject({}),
  v.metadata({
    jsonSchema: {
      type: 'object',
      required: ['displayName'],
      properties: {
        schemas: { type: 'array', items: { type: 'string' } },
        displayName: { type: 'string', minLength: 1, maxLength: 255 },
        externalId: { type: 'string', maxLength: 255 },
        members: { type: 'array', items: { type: 'object', properties: { value: { type: 'string', format: 'uuid' } } } },
      },
    },
  }),
  v.transform((sent) => {
    const names = ['displayName', 'externalId', 'members'];
    const known = (key: string) => names.find((name) => name.toLowerCase() === key.toLowerCase());
    return Object.fromEntries(
      Object.entries(sent).flatMap(([key, value]) => (known(key) ? [[known(key) as string, value]] : [])),
    );
  }),
  v.object({ displayName, externalId, members: v.nullish(memberList) }),
);
export type GroupBody = v.InferOutput<typeof groupBody>;
