import { expect } from 'chai';
import Type from 'typebox';
import { defineResource } from '@longshore/resources';
import { findRoute } from '../src/pipeline/route.js';

describe('Among 200 resources', () => {
  it('finding a route looks at only one', () => {
    const looked: string[] = [];
    const resources = Array.from({ length: 200 }, (_, index) =>
      defineResource({
        name: `things-${index}s`,
        item: Type.Object({ id: Type.String() }),
        storage: { get: async () => undefined },
      }),
    );
    const catalog = {
      roots: new Map(resources.map((resource) => [resource.name, resource])),
      storageOf: (resource: (typeof resources)[number]) => {
        looked.push(resource.name);
        return resource.storage.create(resource, undefined);
      },
    };
    expect(findRoute(catalog, ['things-150s', 'x']).kind).to.equal('item');
    expect(looked).to.deep.equal(['things-150s']);
  });
});
