.DEFAULT_GOAL := help
.PHONY: help dev seed pack app test test-rest check test-acceptance test-packages test-pgbouncer test-citus test-faults test-fuzz test-openapi test-kubernetes test-restarts failover screenshots test-browser test-gateway test-prometheus test-rollout test-containers docs lint format build compile release bench bench-smoke up down pin clean node

bin := node_modules/.bin
# The compiler itself; the program in $(bin) is one for Node.js that starts it, which takes longer than a build of what is current.
tsc = $(firstword $(wildcard node_modules/@typescript/typescript-*/lib/tsc) $(bin)/tsc)
# npm writes this file last, so its time is that of the installation.
installed := node_modules/.package-lock.json
# Built once per version, with npm's cache or the registry.
renderer := shared/resources/assets/scalar.js.br
# The renderer of the documentation, which nothing else needs.
site := docs/node_modules/.package-lock.json
browser := $(wildcard /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome /Applications/Chromium.app)
whole := '{dev,acceptance}/test/**/*.test.ts'

# What make dev runs.
served := services/api services/worker services/dashboard shared/example-shop

both := --file compose.yaml --file compose.gateway.yaml
files = $(if $(GATEWAY),$(both))

ROWS ?= 300
DIRECTORY ?= .data/packages

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dev: $(installed) $(renderer) ## Run everything without Docker, with reload on save (PORT_API, PORT_DASHBOARD, PORT_WORKER choose ports)
	@$(tsc) -b dev $(served)
	@node dev/dist/main.js $(served)

seed: build ## Replace the example rows: make seed ROWS=1000000 (in the database of make dev, or in DATABASE_URL)
	@ROWS='$(ROWS)' node dev/dist/seed.js

test: build ## Run the main tests of all packages, for use before a commit; about five minutes on two cores (local Postgres or TEST_POSTGRES_URL)
	@COVERAGE='$(COVERAGE)' dev/run-tests main

test-rest: build ## Run the tests of the packages that `make test` leaves out (COVERAGE=1 for both measures their coverage)
	@COVERAGE='$(COVERAGE)' dev/run-tests rest
	@$(if $(COVERAGE),$(bin)/c8 report)

check: ## Run everything that CI runs; installs what it needs on Debian
	@.ci/run

test-acceptance: build ## Start the services and test them from outside, as users do (needs postgresql-15 for backups and standbys)
	@$(bin)/mocha $(whole)

test-browser: build ## Test the dashboard in a real browser (needs Chromium)
	@npm run --silent --workspaces --if-present test:browser

screenshots: build ## Take screenshots of every page of the dashboard, outside the repository (needs Chromium; ARGS=--kept updates docs/images)
	@npm run --silent --workspace @longshore/jobs-dashboard screenshots -- $(ARGS)

test-pgbouncer: build ## Run the storage's tests behind pgbouncer in transaction mode (needs pgbouncer)
	$(bin)/mocha --spec 'shared/jobs-postgres/test/pgbouncer/*.pgbouncer.ts'

test-citus: build ## Run the storage's tests and the fault tests on a Citus cluster (CITUS_URL=postgres://… of its coordinator; ARGS of make test-faults)
	@[ -n "$(CITUS_URL)" ] || { echo 'Give CITUS_URL, the URL of the coordinator of a Citus cluster.' >&2; exit 1; }
	CITUS_URL='$(CITUS_URL)' $(bin)/mocha --spec 'shared/jobs-postgres/test/citus/*.citus.ts'
	CITUS_URL='$(CITUS_URL)' node --import tsx acceptance/faults/main.ts --short $(ARGS)

test-faults: build ## Kill, freeze and disconnect processes under load; five minutes (ARGS="--help" lists options)
	@node --import tsx acceptance/faults/main.ts $(ARGS)

failover: build ## Promote a standby under load, and print what it costs (needs Debian's postgresql-15 and pgbouncer; ARGS="--kind hosts|dns|pgbouncer --runs 5")
	@node --import tsx acceptance/failover/main.ts $(ARGS)

test-fuzz: build ## Send random requests to every operation of the API; several minutes (SEED=1 repeats a run, REQUESTS=100000 sends more)
	@SEED='$(SEED)' REQUESTS='$(REQUESTS)' $(bin)/mocha --spec 'acceptance/fuzz/*.fuzz.ts'

test-openapi: build ## Have linters and client generators judge the OpenAPI document; installs them on first use
	@$(bin)/mocha --spec 'acceptance/openapi/*.judges.ts'

test-packages: build ## Pack all packages, install only the tarballs in an empty folder, and test them there
	@$(bin)/mocha --spec 'acceptance/test/packages/*.packages.ts'

test-prometheus: build ## Check the metrics, rules and dashboard with promtool and a real Prometheus (needs prometheus)
	@npm run --silent --workspaces --if-present test:prometheus

test-gateway: build ## Test the api behind nginx, under a path prefix (needs nginx)
	@npm run --silent --workspaces --if-present test:gateway

test-kubernetes: $(installed) ## Render the overlays of ops/kubernetes, and check every object with the published schemas (needs kubectl)
	@npm run --silent --workspaces --if-present test:kubernetes

test-restarts: build ## Restart two apis behind nginx 100 times, under 200 requests a second; 20 minutes (RESTARTS=10 RATE=50)
	@RESTARTS='$(or $(RESTARTS),100)' RATE='$(or $(RATE),200)' npm run --silent --workspace @longshore/acceptance test:gateway -- --grep 'restarted in turn'

test-rollout: build ## Replace the previous version by this one under load, and the example's first version by its second
	@npm run --silent --workspaces --if-present test:rollout

test-containers: $(installed) ## Build the containers and test them (needs Docker)
	@npm run --silent --workspaces --if-present test:containers

docs: $(installed) $(site) ## Render the documentation as a site below .data/docs (SERVE=1 serves it at http://localhost:8083)
	@cd docs && node_modules/.bin/typedoc --logLevel Warn && node_modules/.bin/vitepress $(if $(SERVE),dev . --port 8083,build . >/dev/null)
	@$(if $(SERVE),,echo 'The documentation is in .data/docs.')

lint: $(installed) ## Check lint rules, import directions and formatting
	$(bin)/oxlint --type-aware --deny-warnings
	$(bin)/prettier --check --log-level warn .

format: $(installed) ## Format every file and apply automatic lint fixes
	$(bin)/oxlint --type-aware --fix
	$(bin)/prettier --write --log-level warn .

build: compile $(renderer) ## Compile every package

compile: $(installed)
	$(bin)/tsc -b

pack: build ## Build the tarballs of all published packages (DIRECTORY=.data/packages)
	@node dev/dist/pack/main.js '$(DIRECTORY)'

app: build ## Create an application that uses these packages, which are not on npm yet: make app DIRECTORY=../my-app
	@[ '$(origin DIRECTORY)' != file ] || { echo 'Name the directory of the application: make app DIRECTORY=../my-app' >&2; exit 1; }
	@node dev/dist/app.js '$(DIRECTORY)'

release: build ## Set the version, date the changelog, commit and tag: make release VERSION=1.2.3 (ARGS=--dry-run changes nothing)
	@node dev/dist/release/main.js prepare '$(VERSION)' $(ARGS)

bench: build ## Measure throughput, latency and HTTP in comparison with the peers (ARGS="--help" lists options)
	node bench/dist/main.js $(ARGS)

bench-smoke: build ## Run the benchmarks briefly, to check that they work
	node bench/dist/main.js --smoke $(ARGS)

up: ## Run everything in containers (GATEWAY=1: behind nginx, at one address; SCALE=worker=3: three workers, until make down)
	@# Shows the passwords last, where they are easy to see, even if something failed.
	@secrets=$$(containers/secrets .env) || exit 1; failed=0; \
	grep -q '^NODE_IMAGE=' .env || containers/pin-images .env pull 2>/dev/null; \
	docker compose $(files) up --build --wait --remove-orphans $$(containers/scales $(files)) $(addprefix --scale ,$(SCALE)) || failed=1; \
	[ -z "$$secrets" ] || printf '\n%s\n' "$$secrets"; exit $$failed
	@containers/addresses $(files)

down: ## Stop the containers, those of all profiles; their data is kept
	docker compose $(both) --profile '*' down

pin: ## Pin the newest base images by digest, for all further builds and runs
	@containers/pin-images .env pull

clean: ## Remove build output and the data of make dev
	rm -rf .data coverage docs/reference $(renderer) shared/*/dist services/*/dist bench/dist dev/dist acceptance/*/programs/dist

$(installed): package-lock.json | node
	npm ci --no-audit --no-fund
	@touch $@

$(site): docs/package-lock.json | node
	cd docs && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(renderer): shared/resources/assets/scalar.json shared/resources/scripts/build-renderer.ts | $(installed)
	@node --import tsx shared/resources/scripts/build-renderer.ts

node:
	@command -v node >/dev/null || { echo 'Longshore needs Node.js 20.19 or newer (https://nodejs.org).' >&2; exit 1; }
	@node -e "const [a, b] = process.versions.node.split('.').map(Number); if (a < 20 || (a === 20 && b < 19)) \
	  { console.error('Longshore needs Node.js 20.19 or newer; this is ' + process.version + '.'); process.exit(1) }"
