.DEFAULT_GOAL := help
.PHONY: help dev seed test check test-acceptance test-pgbouncer test-faults test-fuzz test-openapi screenshots test-browser test-gateway test-rollout test-containers lint format build bench bench-smoke up down pin clean node

bin := node_modules/.bin
# npm writes this file last, so it tells when the packages were installed.
installed := node_modules/.package-lock.json
browser := $(wildcard /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome /Applications/Chromium.app)
storage := 'shared/jobs-postgres/test/**/*.test.ts'
others := '{shared,services}/!(jobs-postgres)/test/**/*.test.ts'
whole := '{dev,acceptance}/test/**/*.test.ts'
measured := $(if $(COVERAGE),NODE_V8_COVERAGE='$(CURDIR)/coverage/tmp') $(bin)/mocha

both := --file compose.yaml --file compose.gateway.yaml
compose = docker compose $(if $(GATEWAY),$(both))

ROWS ?= 300

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dev: build ## Run everything here, without Docker: a local Postgres, api, worker and dashboard
	@node dev/dist/main.js

seed: build ## Replace the example rows: make seed ROWS=1000000 (DATABASE_URL names another database than that of make dev)
	@ROWS='$(ROWS)' node dev/dist/seed.js

test: build ## What to run before a commit: the tests of all packages, against a local Postgres (TEST_POSTGRES_URL names another; COVERAGE=1 measures)
	@rm -rf coverage && mkdir coverage
	@# Two halves side by side, each of which keeps a core busy; the storage's is shown at its end.
	@$(measured) $(storage) >coverage/storage.log 2>&1 & \
	failed=0; $(measured) $(others) || failed=1; \
	wait $$! || failed=1; cat coverage/storage.log; exit $$failed
	@$(if $(COVERAGE),$(bin)/c8 report)

check: ## Everything that CI runs; installs what it needs on Debian
	@.ci/run

test-acceptance: build ## Start the services as processes and use them as their users do
	@$(bin)/mocha $(whole)

test-browser: build ## Look at the dashboard with a real browser (needs Chromium)
	@npm run --silent --workspaces --if-present test:browser

screenshots: build ## Take pictures of every page of the dashboard, outside the repository (needs Chromium; ARGS=--kept renews those in docs/images)
	@npm run --silent --workspace @longshore/jobs-dashboard screenshots -- $(ARGS)

test-pgbouncer: build ## The storage's tests behind pgbouncer in transaction mode (needs pgbouncer)
	$(bin)/mocha --spec 'shared/jobs-postgres/test/pgbouncer/*.pgbouncer.ts'

test-faults: build ## Kill, freeze and cut everything under load; five minutes (ARGS="--help" lists options)
	@node --import tsx acceptance/faults/main.ts $(ARGS)

test-fuzz: build ## Send any request to every operation, then see that all answers; two minutes (SEED=1 repeats, REQUESTS=100000 sends more)
	@SEED='$(SEED)' REQUESTS='$(REQUESTS)' $(bin)/mocha --spec 'acceptance/fuzz/*.fuzz.ts'

test-openapi: build ## Have linters and client generators judge the OpenAPI document; installs them on first use
	@$(bin)/mocha --spec 'acceptance/openapi/*.judges.ts'

test-gateway: build ## Try the api behind nginx, under a path of the gateway's (needs nginx)
	@npm run --silent --workspaces --if-present test:gateway

test-rollout: build ## Roll this version out over the previous one under load, in both orders
	@npm run --silent --workspaces --if-present test:rollout

test-containers: $(installed) ## Build the containers and try them (needs Docker)
	@npm run --silent --workspaces --if-present test:containers

lint: $(installed) ## Check rules, import directions and format
	$(bin)/oxlint --type-aware --deny-warnings
	$(bin)/prettier --check --log-level warn .

format: $(installed) ## Format every file and mend what can be mended
	$(bin)/oxlint --type-aware --fix
	$(bin)/prettier --write --log-level warn .

build: $(installed) ## Compile every package
	$(bin)/tsc -b

bench: build ## Measure throughput, latency and HTTP beside the peers (ARGS="--help" lists options)
	node bench/dist/main.js $(ARGS)

bench-smoke: build ## Run the benchmarks shortly, to see that they work
	node bench/dist/main.js --smoke $(ARGS)

up: ## Run everything in containers (GATEWAY=1: behind nginx, at one address)
	@# The passwords are shown last, where the first look falls, and also if something failed.
	@secrets=$$(containers/secrets .env) || exit 1; failed=0; \
	grep -q '^NODE_IMAGE=' .env || containers/pin-images .env pull 2>/dev/null; \
	$(compose) up --build --wait --remove-orphans || failed=1; \
	[ -z "$$secrets" ] || printf '\n%s\n' "$$secrets"; exit $$failed
	@echo
ifdef GATEWAY
	@echo '  API and dashboard   http://localhost:8000   http://localhost:8000/job-dashboard'
else
	@echo '  API         http://localhost:8080'
	@echo '  Dashboard   http://localhost:8081/job-dashboard'
endif
	@echo
	@echo '  The password of the dashboard and the key of the API are in .env. Your first job:'
	@echo
	@echo '  curl -X POST http://localhost:$(if $(GATEWAY),8000,8080)/test -H "Authorization: Bearer $$(sed -n s/^API_ADMIN_KEY=//p .env)"'

down: ## Stop the containers; their data stays
	docker compose $(both) down

pin: ## Build and run with the newest base images from now on, by their digests
	@containers/pin-images .env pull

clean: ## Remove what was built, and the data of make dev
	rm -rf .data coverage shared/*/dist services/*/dist bench/dist dev/dist acceptance/*/programs/dist

$(installed): package-lock.json | node
	npm ci --no-audit --no-fund
	@touch $@

node:
	@command -v node >/dev/null || { echo 'Longshore needs Node.js 20.19 or newer (https://nodejs.org).' >&2; exit 1; }
	@node -e "const [a, b] = process.versions.node.split('.').map(Number); if (a < 20 || (a === 20 && b < 19)) \
	  { console.error('Longshore needs Node.js 20.19 or newer; this is ' + process.version + '.'); process.exit(1) }"
