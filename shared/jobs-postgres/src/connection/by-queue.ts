/** Groups items by queue, keeping their order: each statement names one queue. */
export function byQueue<Item extends { readonly queue: string }>(items: Iterable<Item>): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(item.queue);
    if (group === undefined) groups.set(item.queue, [item]);
    else group.push(item);
  }
  return groups;
}
