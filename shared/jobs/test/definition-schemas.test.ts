import { type } from 'arktype';
import { expect } from 'chai';
import Type from 'typebox';
import * as v from 'valibot';
import { z } from 'zod';
import { defineJob, InvalidArgumentsError, JobClient, type JsonValue, MemoryStorage } from '../src/index.js';

describe('The schema of a job definition', () => {
  const definitions = {
    TypeBox: defineJob({ name: 'a', args: Type.Object({ order: Type.Object({ id: Type.Integer() }) }) }),
    'JSON Schema': defineJob({
      name: 'a',
      args: {
        type: 'object',
        properties: { order: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
        required: ['order'],
      },
    }),
    'JSON Schema 2020-12': defineJob({
      name: 'a',
      args: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { order: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
        required: ['order'],
      },
    }),
    zod: defineJob({ name: 'a', args: z.object({ order: z.object({ id: z.int() }) }) }),
    valibot: defineJob({
      name: 'a',
      args: v.object({ order: v.object({ id: v.pipe(v.number(), v.integer()) }) }),
    }),
    arktype: defineJob({ name: 'a', args: type({ order: { id: 'number.integer' } }) }),
  };

  for (const [library, definition] of Object.entries(definitions)) {
    it(`may come from ${library}`, () => {
      expect(definition.check({ order: { id: 7 } }).text).to.equal('{"order":{"id":7}}');
      const invalid = (): unknown => definition.check({ order: { id: 0.5 } });
      expect(invalid).to.throw(InvalidArgumentsError, 'args.order.id ');
    });
  }

  it('types the arguments', async () => {
    const client = new JobClient(new MemoryStorage());
    const misuses = [
      // @ts-expect-error id is an integer
      () => client.enqueue(definitions['JSON Schema'], { order: { id: '7' } }),
      // @ts-expect-error id is an integer
      () => client.enqueue(definitions.zod, { order: { id: '7' } }),
      // @ts-expect-error id is an integer
      () => client.enqueue(definitions.valibot, { order: { id: '7' } }),
      // @ts-expect-error id is an integer
      () => client.enqueue(definitions.arktype, { order: { id: '7' } }),
    ];
    for (const misuse of misuses)
      expect(await misuse().catch((error: unknown) => error)).to.be.instanceOf(InvalidArgumentsError);
  });

  it('computes keys from its output, and stores the arguments as they were given', async () => {
    const page = defineJob({
      name: 'page',
      args: z.object({ limit: z.number().default(20), day: z.string().transform((day) => day.slice(0, 10)) }),
      unique: { key: ({ day, limit }) => `${day}/${limit}` },
    });
    const storage = new MemoryStorage();
    const client = new JobClient(storage);
    const { id } = await client.enqueue(page, { day: '2026-11-22T10:00:00Z' });
    expect((await client.find(page, id))?.args).to.deep.equal({ day: '2026-11-22T10:00:00Z' });
    expect((await client.enqueue(page, { limit: 20, day: '2026-11-22' })).id).to.equal(id);
  });

  it('has an output for the handler, which need not be JSON', () => {
    const report = defineJob({
      name: 'report',
      args: z.object({ limit: z.number().default(20), day: z.string().transform((day) => new Date(day)) }),
    });
    const { text } = report.check({ day: '2026-11-22' });
    expect(text).to.equal('{"day":"2026-11-22"}');
    expect(report.read(JSON.parse(text) as JsonValue, 1)).to.deep.equal({
      limit: 20,
      day: new Date('2026-11-22'),
    });
  });

  it('fills in the defaults of a JSON Schema, without changing what was given', () => {
    const args = Type.Object({ to: Type.String(), copies: Type.Integer({ default: 1 }) });
    const print = defineJob({ name: 'print', args });
    const given = { to: 'Delft' };
    expect(print.read(given, 1)).to.deep.equal({ to: 'Delft', copies: 1 });
    expect(print.check(given as never)).to.deep.equal({
      value: { to: 'Delft', copies: 1 },
      text: '{"to":"Delft"}',
    });
    expect(given).to.deep.equal({ to: 'Delft' });
  });

  it('is checked when the job is defined', () => {
    const define = (args: object) => (): unknown => defineJob({ name: 'a', args });
    expect(define({ orderId: 'string' })).to.throw(TypeError, 'args of the job "a" is not a schema');
    expect(define({ type: 'strng' })).to.throw(TypeError, 'args of the job "a" is not a valid JSON Schema');
    expect(define({ $ref: '#/$defs/missing' })).to.throw(TypeError, 'missing');
  });

  it('must not be asynchronous', () => {
    const args = z.object({ id: z.string().refine(async () => true) });
    expect(() => defineJob({ name: 'a', args }).check({ id: 'x' })).to.throw(/asynchronous/i);
  });

  it('describes the arguments as a JSON Schema if its library can', () => {
    expect(definitions.zod.schema).to.have.nested.property('properties.order.type', 'object');
    expect(definitions.valibot.schema).to.deep.equal({});
  });

  it('checks formats', () => {
    const definition = defineJob({ name: 'a', args: Type.Object({ id: Type.String({ format: 'uuid' }) }) });
    expect(() => definition.check({ id: 'x' })).to.throw(InvalidArgumentsError, 'must match format "uuid"');
  });
});
